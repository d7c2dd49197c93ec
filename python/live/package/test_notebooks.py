import os
import pathlib

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted(pathlib.Path(os.environ["FREEHOLD_NOTEBOOKS"]).glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    # The repository has no outputs: they would come from another machine, or from an older commit.
    assert all(not cell.get("outputs") for cell in notebook.cells)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    shown = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    assert len(shown) >= 4
    rich = [output.data for cell in shown for output in cell.outputs if output.output_type == "execute_result"]
    assert any("text/html" in data or "image/svg+xml" in data for data in rich)
