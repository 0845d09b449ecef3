"""The layers of imports: they point down only, and no backend is imported at module level."""

import ast
import pathlib

import keras_vaezoo

PACKAGE = pathlib.Path(keras_vaezoo.__file__).parent
LAYERS = [
    {"checks", "close_names", "replicas"},
    {
        "likelihoods",
        "divergences",
        "sampling",
        "schedules",
        "control",
        "coefficients",
        "preset_listing",
        "presets_io",
        "metrics",
        "plots",
    },
    {"networks", "datasets"},
    {"models.base"},
    {"models"},
    {"evaluation", "exporting", "zoo", "probe"},
    {"callbacks"},
]
BACKENDS = {"tensorflow", "tensorflow_datasets", "jax", "torch", "matplotlib", "sklearn"}
OF_THE_BASE = {
    "arguments",
    "base",
    "batching",
    "compilation",
    "recovery",
    "streams",
    "contract",
    "inference",
    "terms",
    "trackers",
}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield name.removesuffix(".__init__"), path


def imports_at_module_level(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "keras_vaezoo":
            yield from (f"keras_vaezoo.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def layer_of(name):
    parts = name.split(".")
    if parts[0] == "models" and len(parts) > 1 and parts[1] in OF_THE_BASE:
        return 3
    for number, members in enumerate(LAYERS):
        if parts[0] in members:
            return number
    raise AssertionError(f"{name} stands in no layer: add it to LAYERS")


def test_imports_point_down():
    for name, path in modules():
        if name == "__init__":
            continue
        for imported in imports_at_module_level(path):
            root, _, inner = imported.partition(".")
            if root != "keras_vaezoo" or not inner:
                continue
            assert layer_of(inner) <= layer_of(name), f"{name} imports {inner}"


def test_no_method_imports_another():
    classes = [getattr(keras_vaezoo.models, name) for name in keras_vaezoo.models.__all__]
    methods = {kind.__module__.removeprefix("keras_vaezoo.") for kind in classes}
    for name, path in modules():
        if name in methods:
            for imported in imports_at_module_level(path):
                assert imported.removeprefix("keras_vaezoo.") not in methods - {name}, name


def test_no_backend_at_module_level():
    for name, path in modules():
        for imported in imports_at_module_level(path):
            assert imported.split(".")[0] not in BACKENDS, f"{name} imports {imported}"


def test_no_lambda_layer_and_no_pickle():
    for name, path in modules():
        text = path.read_text(encoding="utf-8")
        assert "layers.Lambda" not in text and "import pickle" not in text, name


def test_files_stay_small():
    for name, path in modules():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 320, f"{name} has {lines} lines"


def test_public_names_are_sorted_and_exist():
    names = keras_vaezoo.__all__
    assert len(set(names)) == len(names)
    assert all(hasattr(keras_vaezoo, name) for name in names)
