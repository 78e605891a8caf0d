"""The systemd unit, as systemd reads it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.cluster import ROOT

SHIPPED = ROOT / "deploy" / "systemd" / "attention-atlas@.service"
WORST = 2.0  # of ten, by the count of systemd-analyze: what is left of the rights of a service


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here to read the unit")
def test_systemd_understands_the_unit_and_finds_it_well_shut(tmp_path: Path) -> None:
    unit = tmp_path / "attention-atlas@8501.service"
    unit.write_text(SHIPPED.read_text("utf-8").replace("/opt/attention-atlas/.venv/bin/python", sys.executable), "utf-8")
    verified = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert (verified.returncode, verified.stderr) == (0, "")
    command = ["systemd-analyze", "security", "--offline=true", f"--threshold={WORST * 10:.0f}", str(unit)]
    assessed = subprocess.run(command, capture_output=True, text=True)
    assert assessed.returncode == 0, assessed.stdout
