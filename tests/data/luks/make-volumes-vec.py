#!/usr/bin/python3 -B
"""
volumes.vec from manifest.json

    make-volumes-vec.py > volumes.vec

What the tests in C read: one record a volume, with what must come of opening
it.  The manifest tells what the peers did with a file; where they differ, or
take what the format forbids, OUTCOMES below says what is right here.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import json
import os

# name: kind of error, and what its text must name
OUTCOMES = {
    "b1-bad-magic": ("corrupt-header", "no LUKS header"),
    "b1-version-3": ("unsupported", "LUKS version 3"),
    "b1-version-0": ("corrupt-header", "version 0"),
    "b1-truncated-header": ("corrupt-header", "the storage has 500 bytes"),
    "b1-empty-file": ("corrupt-header", "no LUKS header"),
    "b1-truncated-keyslot": ("corrupt-header", "key slot 0"),
    "b1-stripes-0": ("corrupt-header", "key slot 0: stripes 0 != 4000"),
    "b1-stripes-huge": ("corrupt-header",
                        "key slot 0: stripes 4294967295 != 4000"),
    "b1-key-bytes-0": ("corrupt-header", "key length 0"),
    "b1-key-bytes-17": ("corrupt-header", "payload offset 528384"),
    "b1-slot-iterations-0": ("corrupt-header", "key slot 0: iterations 0"),
    "b1-slot-iterations-max": ("too-costly",
                               "key slot 0: PBKDF2 with sha256 and "
                               "4294967295 iterations"),
    "b1-payload-beyond-file": ("io", "the payload begins at 1099511627264"),
    "b1-payload-0": ("corrupt-header", "payload offset 0"),
    "b1-keyslots-overlap": ("corrupt-header", "overlaps that of key slot 0"),
    "b1-keyslot-beyond-file": ("corrupt-header", "137439017472"),
    "b1-keyslot-state": ("corrupt-header", "key slot 2: state 0x12345678"),
    "b1-cipher-unknown": ("unsupported", "rot13"),
    "b1-mode-unknown": ("unsupported", "xxx"),
    "b1-essiv-no-hash": ("unsupported", "essiv needs a hash"),
    "b1-hash-unknown": ("unsupported", "sha257"),
    "b1-material-flipped": ("wrong-passphrase", "no key slot opens"),
    "b1-all-slots-erased": ("wrong-passphrase", "no key slot is active"),
    "b2-both-csum-bad": ("corrupt-header", "checksum"),
    "b2-version-3-both": ("unsupported", "LUKS version 3"),
    "b2-hdr-size-mismatch": ("corrupt-header", "hdr_size 32768"),
    "b2-hdr-offset-wrong": ("corrupt-header", "hdr_offset 32768"),
    "b2-truncated-header": ("corrupt-header", "the storage has 8192 bytes"),
    "b2-json-bad-utf8": ("corrupt-header", "JSON"),
    "b2-json-deep-1000": ("corrupt-header", "nested deeper"),
    "b2-json-duplicate-first-empty": ("corrupt-header", "duplicate"),
    "b2-json-truncated": ("corrupt-header", "JSON"),
    "b2-json-not-object": ("corrupt-header", "not an object"),
    "b2-areas-overlap": ("corrupt-header",
                         "key slot 1: its area, 65536 bytes at 36864"),
    "b2-area-beyond": ("corrupt-header",
                       "key slot 0: its area, 65536 bytes at 524288"),
    "b2-stripes-0": ("corrupt-header", "key slot 0: stripes 0 != 4000"),
    "b2-key-size-0": ("corrupt-header", 'key slot 0: "key_size" is 0'),
    "b2-key-size-huge": ("corrupt-header",
                         'key slot 0: "key_size" is 2147483647'),
    "b2-argon2-memory-huge": ("out-of-memory",
                              "key slot 0: argon2id needs 4294967295 KiB"),
    "b2-argon2-cpus-0": ("corrupt-header", 'key slot 0: "cpus" is 0'),
    "b2-argon2-memory-0": ("corrupt-header", 'key slot 0: "memory" is 0'),
    "b2-kdf-unknown": ("unsupported", "scrypt"),
    "b2-digest-iterations-huge": ("too-costly",
                                  "the volume key's digest: PBKDF2"),
    "b2-segment-beyond-file": ("io", "the payload begins at 1099511627776"),
    "b2-segment-offset-overflow": ("corrupt-header", 'segment 0: "offset"'),
    "b2-segment-offset-number": ("corrupt-header", 'segment 0: "offset"'),
    "b2-segment-offset-in-header": ("corrupt-header",
                                    "segment 0: offset 4096"),
    "b2-sector-size-511": ("corrupt-header", 'segment 0: "sector_size"'),
    "b2-cipher-unknown": ("unsupported", "rot13"),
    "b2-requirement-unknown": ("unsupported", "corpus-future"),
    "b2-no-digest": ("corrupt-header", "segment 0: no digest"),
    "b2-no-segments-member": ("corrupt-header", 'no member "segments"'),
    "b2-segments-empty": ("corrupt-header", '"segments" is empty'),
    "b2-integrity-aead": ("unsupported", "integrity protection (aead)"),
    "b2-all-slots-erased": ("wrong-passphrase", "no key slot is active"),
    "b2-keyslots-size-huge": ("corrupt-header", "134250496"),
    # good headers that are refused by name
    "l2-reencrypt-encrypt-interrupted": ("unsupported", "re-encrypted"),
    "v2-reencrypt-initialized": ("unsupported", "re-encrypted"),
    "v2-reencrypt-crashed": ("unsupported", "re-encrypted"),
}

# of the variants, which the manifest does not describe further
VARIANT = {"cipher": "aes-cbc-plain64", "area_cipher": "aes-cbc-plain64",
           "hash": "sha256", "key_len": 16}
SLOT_KDF = {("v2-multi-slots", 3): "argon2i", ("v2-multi-slots", 5): "pbkdf2"}


def kdf_of(volume, slot):
    if volume["version"] == 1:
        return "pbkdf2"
    if "slots" in volume:
        slots = volume["slots"]
        return slots[str(slot) if slot is not None else min(slots)]["kdf"]
    return SLOT_KDF.get((volume["name"], slot), "argon2id")


def fields(kind, volume):
    """(name, value) pairs of a record"""
    out = [("name", volume["name"]), ("set", kind)]
    packed = volume.get("archive", volume["file"])
    file = volume.get("header_of", volume["file"]).removesuffix(".xz")
    header = volume.get("header_file", "").removesuffix(".xz")
    if "header_of" in volume:
        header = volume["file"]
    out += [("packed", packed), ("file", file)]
    if header:
        out += [("header", header)]
        if "header_file" in volume:
            out += [("header_packed", volume["header_file"])]
    out += [("version", volume["version"])]
    if kind == "image":
        key_len = volume["key_bits"] // 8
        if volume["mode"].startswith("xts"):
            key_len = len(volume["volume_key"]) // 2
        area = f'{volume["cipher"]}-{volume["mode"]}'
        for slot in volume["slots"].values():
            area = slot.get("area_encryption", area)
        out += [("cipher", f'{volume["cipher"]}-{volume["mode"]}'),
                ("area_cipher", area), ("hash", volume["hash"]),
                ("key_len", key_len), ("sector_size", volume["sector_size"]),
                ("payload_offset", volume["payload_offset"]),
                ("payload_length", volume["payload_length"]),
                ("uuid", volume["uuid"])]
        if volume.get("label"):
            out += [("label", volume["label"])]
    elif kind == "variant":
        out += [(n, "cipher_null-ecb" if n == "cipher" and
                 volume["name"] == "v2-cipher-null" else v)
                for n, v in VARIANT.items()]
    for i, secret in enumerate(volume["secrets"]):
        slot = secret.get("slot")
        out += [(f"secret{i}", secret["hex"]),
                (f"kdf{i}", kdf_of(volume, slot))]
        if slot is not None:
            out += [(f"slot{i}", slot)]
    if "volume_key" in volume:
        out += [("volume_key", volume["volume_key"])]
    if "payload_sha256" in volume:
        out += [("payload_sha256", volume["payload_sha256"])]
    outcome = OUTCOMES.get(volume["name"])
    if outcome:
        out += [("expect", outcome[0]), ("mention", outcome[1])]
    elif kind == "broken":
        raise SystemExit(f'{volume["name"]}: what is right?')
    else:
        out += [("expect", "open")]
    return out


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "manifest.json")) as f:
        manifest = json.load(f)
    print("# made by make-volumes-vec.py from manifest.json")
    for kind, section in (("image", "images"), ("variant", "variants"),
                          ("broken", "broken")):
        for volume in manifest[section]:
            print()
            for name, value in fields(kind, volume):
                print(f"{name} = {value}")


main()
