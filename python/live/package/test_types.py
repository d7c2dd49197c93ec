import ast
import inspect
import pathlib

import freehold


def stub():
    path = pathlib.Path(freehold.__file__).with_name("__init__.pyi")
    return ast.parse(path.read_text()).body


def parameters(function):
    given = function.args
    return [part.arg for part in [*given.args, *filter(None, [given.vararg]), *given.kwonlyargs, *filter(None, [given.kwarg])]]


def test_every_name_has_a_type():
    typed = {node.name for node in stub() if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert typed | {"__version__"} == set(freehold.__all__)


def test_functions_have_the_typed_parameters():
    for node in stub():
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == list(inspect.signature(getattr(freehold, node.name)).parameters), node.name


def test_classes_have_the_typed_members():
    for of_class in [node for node in stub() if isinstance(node, ast.ClassDef)]:
        real = getattr(freehold, of_class.name)
        named = set()
        for node in of_class.body:
            if isinstance(node, ast.AnnAssign):
                named.add(node.target.id)
            elif isinstance(node, ast.FunctionDef):
                named.add(node.name)
                if node.name not in ("__init__", "__len__"):
                    assert parameters(node) == list(inspect.signature(getattr(real, node.name)).parameters), node.name
        assert all(hasattr(real, name) for name in named)
        if not issubclass(real, Exception):
            public = {name for name in dir(real) if not name.startswith("_")} - {"unopened"}
            assert public <= named, public - named
