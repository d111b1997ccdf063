"""The tree is the one that DESIGN 2 fixes: who may import whom, what things are called, what an import may do.

Every rule is a function of a folder that returns offences in words; it is held against this checkout, and against a
small folder that breaks it, so that no rule is empty.
"""

from __future__ import annotations

import ast
import fnmatch
import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from tests.conftest import ROOT

MAY_IMPORT = {
    "kg": {"kg"},
    "retrieval": {"kg", "retrieval"},
    "agents": {"kg", "retrieval", "agents"},
    "evaluation": {"kg", "retrieval", "agents", "evaluation"},
    "training": {"kg", "retrieval", "training"},
    "scripts": {"kg", "retrieval", "agents", "evaluation", "training", "scripts"},
    "tests": {"kg", "retrieval", "agents", "evaluation", "training", "scripts", "tests"},
}
PACKAGES = tuple(name for name in MAY_IMPORT if name != "tests")
LIBRARIES = tuple(name for name in PACKAGES if name != "scripts")
FOLDERS = {*MAY_IMPORT, "docs"}
RUN_AS_FILES = ("training", "evaluation", "scripts")
"""`python training/x.py` puts that folder before everything else on the path."""
HEAVY = {"vllm", "faiss", "wandb", "ray", "triton", "torch_sparse", "gradio"}
SHARED_BY_TESTS = {"conftest.py", "browser.py", "beir_folder.py"}
TESTS_OF_NO_MODULE = {
    "test_layout", "test_docs", "test_kg_purity", "test_scripts_chaos", "test_sample_corpus", "test_sample_graph",
    "test_merged_graphs",
}  # fmt: skip


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    deferred: bool
    """Inside a function, or for the type checker alone."""

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]


def modules(root: Path, *folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (root / folder).rglob("*.py"))


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(root: Path, path: Path) -> list[Import]:
    package = path.relative_to(root).parent.parts
    return list(_imports(parse(path), package, deferred=False))


def _imports(node: ast.AST, package: tuple[str, ...], deferred: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, deferred) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = package[: len(package) + 1 - child.level] if child.level else ()
            yield Import(".".join((*base, *filter(None, [child.module]))), child.lineno, deferred)
        elif (name := _imported_by_call(child)) is not None:
            yield Import(name, child.lineno, deferred)  # type: ignore[attr-defined]
        inside = deferred or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for part in child.body:
                yield from _imports(ast.Module([part], []), package, deferred=True)
            for part in child.orelse:
                yield from _imports(ast.Module([part], []), package, inside)
        else:
            yield from _imports(child, package, inside)


def _imported_by_call(node: ast.AST) -> str | None:
    """The module that ``import_module("x")`` or ``__import__("x")`` names, as far as it is written out."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    function, first = node.func, node.args[0]
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if called not in {"import_module", "__import__"}:
        return None
    if isinstance(first, ast.JoinedStr) and first.values:
        first = first.values[0]
    return str(first.value) if isinstance(first, ast.Constant) else None


def wrong_arrows(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}:{found.line} imports {found.module}"
        for package, allowed in MAY_IMPORT.items()
        for path in modules(root, package)
        for found in imports(root, path)
        if found.top in MAY_IMPORT and found.top not in allowed
    ]


def eager_heavy_imports(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}:{found.line} imports {found.module} outside a function"
        for path in modules(root, *PACKAGES)
        for found in imports(root, path)
        if found.top in HEAVY and not found.deferred
    ]


def clashing_names(root: Path, taken: set[str]) -> list[str]:
    names = [path for path in modules(root, *RUN_AS_FILES) if path.stem != "__init__"]
    names += [path.parent for path in modules(root, *RUN_AS_FILES) if path.stem == "__init__"]
    return [
        f"{path.relative_to(root)} is named like the module {path.stem} of the standard library or of a package"
        for path in names
        if path.stem in taken and path.parent != root
    ]


def taken_names() -> set[str]:
    """Top-level modules of the standard library and of all that is installed, this project aside."""
    installed = importlib.metadata.packages_distributions()
    return {*sys.stdlib_module_names, *(name for name, owners in installed.items() if set(owners) != {"evigraph"})}


def packages_on_disk(root: Path) -> set[str]:
    """Every folder below the project's packages that holds a module, as a dotted name."""
    return {".".join(path.parent.relative_to(root).parts) for path in modules(root, *PACKAGES)}


def wrong_packages(root: Path) -> list[str]:
    listed = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    disk = packages_on_disk(root)
    return [
        *(f"{name} is not listed in pyproject.toml" for name in sorted(disk - set(listed))),
        *(f"{name} is listed in pyproject.toml, but no folder" for name in sorted(set(listed) - disk)),
        *(f"{name} is listed twice" for name in sorted({name for name in listed if listed.count(name) > 1})),
        *(
            f"{name} has no __init__.py"
            for name in sorted(disk)
            if not root.joinpath(*name.split("."), "__init__.py").is_file()
        ),
    ]


def unknown_folders(root: Path) -> list[str]:
    """Top-level folders that git tracks, or, outside a repository, that .gitignore does not name."""
    if (root / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True, text=True)
        names = {name.partition("/")[0] for name in listed.stdout.split("\0") if "/" in name}
    else:
        ignored = [line.rstrip("/") for line in (root / ".gitignore").read_text(encoding="utf-8").split()]
        names = {
            path.name
            for path in root.iterdir()
            if path.is_dir() and not any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored)
        }
    return sorted(name for name in names if not name.startswith(".") and name not in FOLDERS)


def openai_agents(root: Path) -> list[str]:
    """Mentions of the distribution that imports as ``agents``, as requirement or as module."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = list(chain(project.get("dependencies", []), *project.get("optional-dependencies", {}).values()))
    for path in sorted(root.glob("*.txt")):
        required += path.read_text(encoding="utf-8").splitlines()
    normal = [re.sub(r"[-_.]+", "-", line.strip().lower()) for line in required]
    return [
        *(f"requires {line}" for line in normal if re.match(r"openai-agents(?![\w-])", line)),
        *(
            f"{path.relative_to(root)}:{found.line} imports {found.module}"
            for path in modules(root, *MAY_IMPORT)
            for found in imports(root, path)
            if found.top == "openai_agents"
        ),
    ]


def loaded_from_elsewhere(root: Path) -> list[str]:
    found = {name: importlib.import_module(name).__file__ or "nowhere" for name in PACKAGES}
    return [f"{name} comes from {file}" for name, file in found.items() if Path(file).resolve().parent != root / name]


def prints(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}:{node.lineno} prints"
        for path in modules(root, *LIBRARIES)
        for node in ast.walk(parse(path))
        if (isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"print", "pprint"})
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.stdout", "sys.stderr"})
    ]


def without_docstring(root: Path) -> list[str]:
    return [
        str(path.relative_to(root))
        for path in modules(root, *PACKAGES)
        if not (ast.get_docstring(parse(path)) or "").strip()
    ]


def work_at_import(root: Path) -> list[str]:
    """Statements of a module's own level that do more than define: calls for their effect, loops, open files."""
    return [
        f"{path.relative_to(root)}:{node.lineno} works when imported"
        for path in modules(root, *LIBRARIES)
        for node in parse(path).body
        if isinstance(node, ast.For | ast.While | ast.With)
        or (isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _opens(node.value))
    ]


def _opens(value: ast.expr) -> bool:
    acts = {"open", "read_text", "read_bytes", "load", "connect", "run", "getenv", "urlopen", "from_pretrained"}
    return any(
        isinstance(node, ast.Call) and (getattr(node.func, "attr", "") or getattr(node.func, "id", "")) in acts
        for node in ast.walk(value)
    )


def misnamed_tests(root: Path) -> list[str]:
    """Test files that follow no module, and files in tests/ that are no tests."""
    known = {"_".join(path.relative_to(root).with_suffix("").parts) for path in modules(root, *PACKAGES)}
    known |= {name.removesuffix("___init__") for name in known}
    return [
        str(path.relative_to(root / "tests"))
        for path in modules(root, "tests")
        if path.relative_to(root / "tests").as_posix() not in SHARED_BY_TESTS
        and (path.parent != root / "tests" or not _is_named_test(path.stem, known))
    ]


def _is_named_test(stem: str, known: set[str]) -> bool:
    return stem in TESTS_OF_NO_MODULE or (stem.startswith("test_") and stem.removeprefix("test_") in known)


def modules_after(code: str) -> set[str]:
    """What a fresh interpreter has imported after ``code``, which may print."""
    tail = "\nimport sys\nsys.stdout.flush()\nprint('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, check=True, text=True, cwd=ROOT)
    return set(done.stdout.rpartition("\n\n")[2].split() or done.stdout.split())


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


RULES = {
    "arrows": wrong_arrows,
    "heavy imports": eager_heavy_imports,
    "names": lambda root: clashing_names(root, taken_names()),
    "packages": wrong_packages,
    "folders": unknown_folders,
    "openai-agents": openai_agents,
    "checkout": loaded_from_elsewhere,
    "print": prints,
    "docstrings": without_docstring,
    "work at import": work_at_import,
    "tests": misnamed_tests,
}


@pytest.mark.parametrize("rule", RULES)
def test_this_checkout_keeps_the_rule(rule: str) -> None:
    assert RULES[rule](ROOT) == []


def test_the_rules_see_the_modules_of_this_checkout() -> None:
    seen = {str(path.relative_to(ROOT)) for path in modules(ROOT, *PACKAGES)}
    assert {"kg/build.py", "agents/reporting/model.py", "scripts/commands/build.py"} <= seen
    found = {(i.module, i.deferred) for i in imports(ROOT, ROOT / "scripts" / "commands" / "build.py")}
    assert {("scripts.reports", False), ("kg.build", True)} <= found
    assert "scripts.commands." in {i.module for i in imports(ROOT, ROOT / "scripts" / "cli.py")}


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("kg/a.py", "import retrieval.index"),
        ("kg/ingest/a.py", "from agents import brief"),
        ("retrieval/a.py", "def f():\n    from agents.brief import write_brief"),
        ("agents/a.py", "from evaluation import judges"),
        ("agents/a.py", "import training"),
        ("evaluation/a.py", "import training.scorer"),
        ("evaluation/a.py", "from scripts.console import out"),
        ("training/a.py", "from agents.brief import write_brief"),
        ("training/a.py", "import scripts.cli"),
        ("retrieval/a.py", "import importlib\nimportlib.import_module('scripts.cli')"),
        ("retrieval/a.py", "import importlib\nimportlib.import_module(f'training.{name}')"),
        ("kg/a.py", "__import__('tests.conftest')"),
        ("kg/a.py", "if TYPE_CHECKING:\n    from retrieval.index import ExactIndex"),
        ("kg/a.py", "try:\n    import agents\nexcept ImportError:\n    agents = None"),
        ("scripts/a.py", "from tests.conftest import HashEncoder"),
    ],
)
def test_a_wrong_arrow_is_caught(tmp_path: Path, module: str, text: str) -> None:
    [offence] = wrong_arrows(write(tmp_path, {module: text}))
    assert offence.startswith(f"{module}:")


def test_right_arrows_pass(tmp_path: Path) -> None:
    files = {
        "kg/ingest/a.py": "from . import report\nfrom ..records import Document\nimport kg.names, agentscope",
        "retrieval/a.py": "import kg.build",
        "agents/a.py": "import kg, retrieval.index\nfrom agents.reporting import model",
        "evaluation/a.py": "import kg, retrieval, agents",
        "training/a.py": "import kg, retrieval",
        "scripts/a.py": "import kg, retrieval, agents, evaluation, training, scripts.console",
        "tests/test_a.py": "import kg, training, evaluation, scripts, tests.conftest",
    }
    assert wrong_arrows(write(tmp_path, files)) == []


def test_a_relative_import_counts_with_its_package(tmp_path: Path) -> None:
    write(tmp_path, {"kg/ingest/a.py": "from ..records import Document\nfrom . import report"})
    assert [i.module for i in imports(tmp_path, tmp_path / "kg/ingest/a.py")] == ["kg.records", "kg.ingest"]


@pytest.mark.parametrize(
    "text",
    [
        "import faiss",
        "import torch, wandb",
        "from vllm.sampling_params import SamplingParams",
        "class A:\n    import ray",
        "try:\n    import triton\nexcept ImportError:\n    triton = None",
        "if TYPE_CHECKING:\n    import torch\nelse:\n    import torch_sparse",
        "import importlib\ng = importlib.import_module('gradio')",
    ],
)
def test_a_heavy_import_outside_functions_is_caught(tmp_path: Path, text: str) -> None:
    assert len(eager_heavy_imports(write(tmp_path, {"retrieval/a.py": text}))) == 1


def test_heavy_imports_inside_functions_and_for_types_pass(tmp_path: Path) -> None:
    text = "if TYPE_CHECKING:\n    import faiss\ndef f():\n    import faiss\n    from ray import data\nimport rayleigh"
    assert eager_heavy_imports(write(tmp_path, {"retrieval/a.py": text})) == []


@pytest.mark.parametrize(
    "module",
    ["scripts/json.py", "training/numpy.py", "evaluation/metrics/statistics.py", "scripts/torch/__init__.py"],
)
def test_a_module_with_a_taken_name_is_caught(tmp_path: Path, module: str) -> None:
    write(tmp_path, {module: "", "scripts/__init__.py": "", "kg/json.py": "", "scripts/cli.py": ""})
    assert len(clashing_names(tmp_path, taken_names())) == 1


def test_names_of_this_project_count_as_its_own() -> None:
    assert {"json", "torch", "pytest"} <= taken_names()
    assert not taken_names() & set(PACKAGES)


def test_package_lists_that_differ_from_the_disk_are_caught(tmp_path: Path) -> None:
    listed = '[tool.setuptools]\npackages = ["kg", "kg", "agents", "kg.gone"]\n'
    write(tmp_path, {"pyproject.toml": listed, "kg/__init__.py": "", "kg/new/a.py": "", "agents/__init__.py": ""})
    assert wrong_packages(tmp_path) == [
        "kg.new is not listed in pyproject.toml",
        "kg.gone is listed in pyproject.toml, but no folder",
        "kg is listed twice",
        "kg.new has no __init__.py",
    ]


def test_a_folder_that_the_design_does_not_know_is_caught(tmp_path: Path) -> None:
    files = {
        ".gitignore": "build/\n*.egg-info/\n",
        "src/a": "",
        "kg/a": "",
        "build/a": "",
        "x.egg-info/a": "",
        ".c/a": "",
    }
    assert unknown_folders(write(tmp_path, files)) == ["src"]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_in_a_repository_the_folders_that_git_tracks_count(tmp_path: Path) -> None:
    write(tmp_path, {"src/a.py": "", "kg/a.py": "", "graph/CURRENT": "", "README.md": ""})
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    for command in (["init", "-q"], ["add", "src", "kg", "README.md"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True, env=environment)
    assert unknown_folders(tmp_path) == ["src"]


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": '[project]\ndependencies = ["openai_agents>=0.1"]'},
        {"pyproject.toml": '[project]\noptional-dependencies.app = ["OpenAI-Agents[viz]"]'},
        {"pyproject.toml": "[project]", "constraints.txt": "torch==2.13.0\nopenai-agents==1.0\n"},
        {"pyproject.toml": "[project]", "agents/a.py": "def f():\n    import openai_agents.run"},
    ],
)
def test_openai_agents_is_caught(tmp_path: Path, files: dict[str, str]) -> None:
    assert len(openai_agents(write(tmp_path, files))) == 1


def test_other_openai_packages_pass(tmp_path: Path) -> None:
    text = '[project]\ndependencies = ["openai>=3", "openai-agentsmith"]'
    assert openai_agents(write(tmp_path, {"pyproject.toml": text, "agents/a.py": "import openai"})) == []


def test_packages_from_another_checkout_are_caught(tmp_path: Path) -> None:
    assert len(loaded_from_elsewhere(tmp_path)) == len(PACKAGES)


@pytest.mark.parametrize("text", ["print(1)", "def f():\n    print('x')", "import sys\nsys.stderr.write('x')"])
def test_printing_in_a_library_is_caught(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"kg/ingest/a.py": text, "scripts/a.py": "print(1)", "agents/a.py": "log.info('print(1)')"})
    [offence] = prints(tmp_path)
    assert offence.startswith("kg/ingest/a.py:")


@pytest.mark.parametrize("text", ["", "import os", '"""   """'])
def test_a_package_without_docstring_is_caught(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"kg/__init__.py": text, "agents/__init__.py": '"""Writers."""'})
    assert without_docstring(tmp_path) == ["kg/__init__.py"]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.set_num_threads(1)",
        "for name in NAMES:\n    register(name)",
        "with open('a') as file:\n    text = file.read()",
        "TEXT = Path('a').read_text()",
        "MODEL: object = [load('model')][0]",
    ],
)
def test_work_at_import_is_caught(tmp_path: Path, text: str) -> None:
    assert len(work_at_import(write(tmp_path, {"retrieval/a.py": f'"""A."""\n{text}'}))) == 1


@pytest.mark.parametrize(
    "name", ["test_kg_gone.py", "test_build.py", "kg_build.py", "sub/test_kg_build.py", "test_.py", "test_purity.py"]
)
def test_a_misnamed_test_is_caught(tmp_path: Path, name: str) -> None:
    files = {"kg/build.py": "", "kg/__init__.py": "", "agents/reporting/__init__.py": ""}
    good = ["conftest.py", "test_kg_build.py", "test_agents_reporting.py", "test_layout.py", "test_kg_purity.py"]
    write(tmp_path, files | {f"tests/{other}": "" for other in [*good, name]})
    assert misnamed_tests(tmp_path) == [name]


def test_help_imports_nothing_heavy() -> None:
    loaded = modules_after("from scripts.cli import main; assert main(['--help']) == 0")
    assert "scripts.cli" in loaded
    assert not {"torch", "tyro", "rich", "numpy", "pyarrow", "transformers", "pydantic", "kg"} & loaded


def test_modules_of_a_fresh_interpreter_are_seen() -> None:
    assert "colorsys" in modules_after("import colorsys; print('a\\n\\nb')")


WATCH = """
import importlib, os, sys
from pathlib import Path
root, watched, names = Path(sys.argv[1]), [], sys.argv[2:]
def watch(event, arguments):
    if event in {"socket.connect", "sqlite3.connect"}:
        watched.append(event)
    elif event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        path = Path(os.path.abspath(os.fsdecode(arguments[0])))
        inside = path.is_relative_to(root) and not path.relative_to(root).parts[0].startswith(".")
        if inside and ".egg-info" not in str(path) and path.suffix not in {".py", ".pyc"}:
            watched.append(f"open {path}")
sys.addaudithook(watch)
for name in names:
    importlib.import_module(name)
print("\\n".join(watched))
"""


def opened_at_import(root: Path, names: list[str]) -> list[str]:
    """Connections made, and files of ``root`` opened, while the modules ``names`` are imported."""
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, root, *names], capture_output=True, text=True, cwd=root, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


def test_importing_the_libraries_opens_nothing() -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in modules(ROOT, *LIBRARIES)
    ]
    assert opened_at_import(ROOT, names) == []


def test_files_opened_at_import_are_seen(tmp_path: Path) -> None:
    text = "import sqlite3\nopen('data.txt').close()\nsqlite3.connect(':memory:').close()"
    write(tmp_path, {"opener.py": text, "data.txt": "", "innocent.py": "import json"})
    assert opened_at_import(tmp_path, ["opener", "innocent"]) == [f"open {tmp_path / 'data.txt'}", "sqlite3.connect"]
