"""Shows that the files for containers keep to their schemas, and that workers can grade as confined as they say."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import resources
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from tests.deploy.pod import MANIFEST
from tests.support.namespaces import refused, unshared
from tests.support.paths import GRADER, REPOSITORY
from tests.support.waiting import HANGS

KUBERNETES = "1.30"
CONTAINERS = REPOSITORY / "deploy" / "container"
MANIFESTS = [
    pytest.param(item, id=f"{path.name}-{item['kind']}")
    for path in sorted(MANIFEST.parent.glob("*.yaml"))
    for item in yaml.safe_load_all(path.read_text())
]


def compose() -> dict[str, Any]:
    """Return the file for Compose."""
    content: dict[str, Any] = yaml.safe_load((CONTAINERS / "compose.yaml").read_text())
    return content


@pytest.mark.parametrize("item", MANIFESTS)
def test_a_manifest_keeps_to_the_schema(item: dict[str, Any]) -> None:
    """Kubernetes knows every field, and each has a value of its type."""
    assert kubernetes_validate.validate(item, KUBERNETES, strict=True) == KUBERNETES


@pytest.mark.slow
def test_the_compose_file_keeps_to_the_schema() -> None:
    """Compose, whose own schema check-jsonschema brings along, knows every key."""
    schemas = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    jsonschema.validate(compose(), json.loads((schemas / "compose-spec.json").read_text()))


def test_the_image_has_what_the_files_start() -> None:
    """Its extras exist, everything that it copies exists, and the entry point of Compose's command is the grader."""
    text = (CONTAINERS / "Dockerfile").read_text()
    extras = tomllib.loads((GRADER / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*re.findall(r"\.whl\)\[(.*)\]", text)[0].split(",")} == {"cluster", "postgres", "torch"} <= extras.keys()
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE) for word in line.split()]
    assert "packages" in copied and all((REPOSITORY / name).exists() for name in copied)
    assert not any(name in copied for name in (".", "source", "examples", "tests"))
    assert 'ENTRYPOINT ["grader"]' in text and compose()["services"]["grader"]["command"][0] == "serve"


@pytest.mark.slow
@pytest.mark.skipif(bool(refused()), reason=refused())
def test_workers_grade_within_the_security_context() -> None:
    """As a user without a name, on a read-only file system, with no capability and no privilege to gain.

    The profile of system calls is the runtime's as far as confinement meets it: no new namespace, nothing mounted.
    """
    ran = subprocess.run(
        unshared(sys.executable, "-m", "tests.deploy.pod"),
        cwd=REPOSITORY, capture_output=True, text=True, timeout=HANGS,
    )  # fmt: skip
    printed = ran.stdout + ran.stderr
    assert len(re.findall(r"tcp://\S+: ready$", printed, re.MULTILINE)) == 4, printed
    for line in (r"Uid:\t1000", r"CapBnd:\t0{16}$", r"CapEff:\t0{16}$", r"NoNewPrivs:\t1$", r"Seccomp:\t2$"):
        assert re.search(f"^{line}", printed, re.MULTILINE), printed
    assert ran.returncode == 0
