"""A report whose names are markup, and a notebook whose names are formulas."""

import nbformat

from browser.lab import open_page
from hostile.named import MARKUP, profile_named


def test_names_run_nothing_in_a_browser(chromium, tmp_path):
    report = profile_named(tmp_path, MARKUP).to_html(tmp_path / "hostile.html")
    page, said = chromium.new_page(), []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(report.as_uri())
    open_page(page.locator("body"), "Ops")
    page.locator("#page-ops .tfp-table").get_by_text("<script>alert(1)").first.wait_for()
    open_page(page.locator("body"), "Trace")
    page.locator("#page-trace canvas").last.hover(position={"x": 300, "y": 60})
    assert said == []
    page.close()


def test_jupyterlab_typesets_formulas_of_others_and_none_of_ours(open_lab, tmp_path):
    path = profile_named(tmp_path, "$x^2$").files[0]
    cells = [
        f"import tfprof_nb as tp; tp.load({str(path)!r}, name='$z^2$').dashboard('ops', static=True)",
        "from IPython.display import HTML; HTML('<p>$y^2$</p>')",
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells], metadata=metadata)
    nbformat.write(made, tmp_path / "formulas.ipynb")
    lab = open_lab(tmp_path / "formulas.ipynb")
    with lab.evidence("formulas"):
        lab.run_all()
        lab.page.locator("mjx-container").first.wait_for()
        assert lab.page.get_by_text("$z^2$").count()
        assert lab.page.get_by_text("$x^2$").count()
        assert lab.page.locator("mjx-container").count() == 1
