from pathlib import Path
def test_zz(open_lab):
    for kernel in (True, False):
        lab = open_lab(Path("/tmp/fk.ipynb"), kernel=kernel)
        lab.page.wait_for_timeout(3000)
        print(kernel, lab.page.locator(".jp-OutputArea-child").evaluate_all("es=>es.filter(e=>/Loading widget|not found|Error disp/.test(e.textContent)).map(e=>getComputedStyle(e).display+e.outerHTML.slice(0,700))"))
        print(lab.page.locator("[id^=tfp-static] style").evaluate_all("e=>e.map(x=>x.textContent)"))
