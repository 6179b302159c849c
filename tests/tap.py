"""
Tests written in Python that talk TAP

    @test("/interop/plain/...")
    def name():
        check(condition, "what should have been")

    main()

A test fails by AssertionError or any other exception, whose text becomes a
diagnostic; the others go on.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import signal
import sys
import traceback

TESTS = []


def test(path):
    def register(function):
        TESTS.append((path, function))
        return function
    return register


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def check_equal(got, want, what):
    check(got == want, f"{what}: {short(got)}, not {short(want)}")


def short(value):
    text = value.hex() if isinstance(value, bytes) else repr(value)
    return text if len(text) < 200 else text[:100] + " ... " + text[-60:]


def note(text):
    for line in str(text).splitlines():
        print("# " + line)


def main():
    failed = 0
    # programs under test heed what they are not told to ignore, and whoever
    # started this one (nohup) may have told it so
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    print("TAP version 13")
    print(f"1..{len(TESTS)}", flush=True)
    for number, (path, function) in enumerate(TESTS, 1):
        try:
            function()
            print(f"ok {number} {path}", flush=True)
        except Exception as error:  # a test's fault must not end the others
            failed += 1
            note(error if isinstance(error, AssertionError)
                 else traceback.format_exc())
            print(f"not ok {number} {path}", flush=True)
    sys.exit(1 if failed or not TESTS else 0)
