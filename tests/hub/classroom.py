"""What people do on the hub in a browser, as a few words."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import SLOW, Lab
from tests.hub.deployment import PASSWORD, Deployment


def log_in(page: Page, address: str, deployment: Deployment, name: str) -> Lab:
    """Through the hub's own form, to somebody's JupyterLab."""
    user = deployment.users[name]
    page.goto(f"{address}/hub/login")
    page.fill("#username_input", user)
    page.fill("#password_input", PASSWORD)
    page.click("#login_submit")
    page.wait_for_url(f"**/user/{user}/lab*", timeout=SLOW)
    expect(page.locator("#jp-main-dock-panel")).to_be_visible(timeout=SLOW)
    return Lab(page, f"{address}/user/{user}", deployment.home(name))


class Labs(dict[str, Lab]):
    """Name → somebody's JupyterLab. Whoever is asked for logs in, in a page of their own."""

    def __init__(self, pages: dict[str, Page], address: str, deployment: Deployment) -> None:
        super().__init__()
        self._pages, self._address, self._deployment = pages, address, deployment

    def __missing__(self, name: str) -> Lab:
        self[name] = log_in(self._pages[name], self._address, self._deployment, name)
        return self[name]


def check_answer(lab: Lab, slug: str, program: str) -> str:
    """Write an answer to 03's first exercise, check it, save the notebook: what the card says."""
    lab.open_in_place(lab.folder / slug / f"{slug}.ipynb")
    lab.run("from anatomy import check")
    lab.write("def softmax(x", program)
    lab.run(program)
    card = lab.run('check("softmax")').inner_text()
    lab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    return card


def in_terminal(lab: Lab, command: str) -> str:
    """What a command prints in a new terminal of somebody's JupyterLab."""
    lab.page.goto(f"{lab.address}/lab?reset")
    expect(lab.page.locator("#jp-main-dock-panel")).to_be_visible(timeout=SLOW)
    said = lab.page.evaluate(
        """async command => {
            const terminal = await window.jupyterapp.serviceManager.terminals.startNew();
            let text = '';
            const done = new Promise(resolve => terminal.messageReceived.connect((_, message) => {
                text += message.type === 'stdout' ? message.content.join('') : '';
                const between = text.match(/<begin>\\s+(.*?)\\s+<end>/s);
                if (between) resolve(between[1]);
            }));
            terminal.send({type: 'stdin', content: [`echo '<beg''in>'; ${command}; echo '<e''nd>'\r`]});
            return await done;
        }""",
        command,
    )
    return str(said)


class AssignmentList:
    """A student's Assignment List in JupyterLab."""

    def __init__(self, lab: Lab) -> None:
        self.page = lab.page
        lab.page.goto(f"{lab.address}/lab?reset")
        lab.page.get_by_role("menuitem", name="Nbgrader").click(timeout=SLOW)
        lab.page.get_by_role("menuitem", name="Assignment List").click()
        expect(self.page.locator("#course_list_default")).to_have_text("anatomy", timeout=SLOW)

    def row(self, kind: str, slug: str) -> Locator:
        """The row of an assignment that is `released`, `fetched` or `submitted`."""
        return self.page.locator(f"#{kind}_assignments_list .list_item").filter(has_text=slug).first

    def fetch(self, slug: str) -> None:
        self.row("released", slug).get_by_role("button", name="Fetch").click(timeout=SLOW)
        expect(self.row("fetched", slug)).to_be_visible(timeout=SLOW)

    def submit(self, slug: str) -> None:
        with self.page.expect_response(lambda response: "/assignments/submit" in response.url, timeout=SLOW):
            self.row("fetched", slug).get_by_role("button", name="Submit").click(timeout=SLOW)
        expect(self.row("submitted", slug)).to_be_visible(timeout=SLOW)

    def read_feedback(self, slug: str) -> str:
        """Fetch it and open the page, in JupyterLab: what it says."""
        self.row("submitted", slug).get_by_role("button", name="Fetch Feedback").click(timeout=SLOW)
        self.page.get_by_text("(view feedback)").last.click(timeout=SLOW)
        self.page.locator(".jp-DirListing-item", has_text=f"{slug}.html").dblclick(timeout=SLOW)
        said = self.page.frame_locator(".jp-HTMLViewer iframe").locator("body")
        expect(said).to_contain_text("points", timeout=SLOW)
        return said.inner_text()


class Formgrader:
    """An instructor's Formgrader, in a tab of its own."""

    def __init__(self, lab: Lab) -> None:
        self.page, self.address = lab.page, f"{lab.address}/formgrader"

    def press(self, button: str, slug: str) -> str:
        """Press an assignment's `release`, `collect`, `generate-feedback` or `release-feedback`; what it says."""
        self.page.goto(f"{self.address}/manage_assignments")
        row = self.page.locator("tbody tr").filter(has=self.page.locator(".name", has_text=slug))
        row.locator(f".{button} a").first.click(timeout=SLOW)
        expect(self.page.locator(".modal-title")).to_have_text("Success", timeout=SLOW)
        return self.page.locator(".modal-body").inner_text()

    def marks(self, slug: str) -> dict[str, str]:
        """Student → score, in the table of submissions."""
        self.page.goto(f"{self.address}/manage_submissions/{slug}")
        rows = self.page.locator("tbody tr").filter(has=self.page.locator(".student-id"))
        expect(rows.first).to_be_visible(timeout=SLOW)
        return {row.locator(".student-id").inner_text(): row.locator(".score").inner_text() for row in rows.all()}
