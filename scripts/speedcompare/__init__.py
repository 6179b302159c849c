"""
Comparing speed logs: see scripts/speed-compare

  reader.py    lines of a file of any size, in bounded memory
  model.py     what a file said: results under keys, what was left out
  formats.py   the table of formats and the detection
  tcrypt.py, qcrypto.py, openssl.py, cryptsetup.py, stressng.py, perfstat.py,
  gobench.py   a format each
  machine.py   the record of the machine, wherever it stands
  compare.py   two sides matched row by row, and judged
  stats.py     ranks, corrections, how many runs are needed
  render.py    text, Markdown, CSV, JSON
  cli.py       the command

A module uses those above it only.  A new format is a module and a line in
formats.py.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
