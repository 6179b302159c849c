"""
Results of `qcrypto bench` as a page: see scripts/bench-report

  data.py    rows of one file or several, under what was measured
  charts.py  which charts there are to draw, and how
  page.py    the page
  cli.py     the command

Files are read by scripts/speedcompare.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
