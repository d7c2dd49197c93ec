"""The results of a sweep as a Parquet dataset, partitioned by trace. Each shard is a file, complete or absent."""

import contextlib
import fcntl
import json
import os
import pathlib
import urllib.parse

from . import _freehold

ARGUMENTS = "_freehold.json"


class Dataset:
    """A folder of finished shards, on this machine or at a URL that fsspec supports."""

    def __init__(self, into):
        self.name = os.fspath(into)
        self._files = _Remote(self.name) if "://" in self.name else _Local(self.name)

    @contextlib.contextmanager
    def claimed(self, arguments):
        """Locks the dataset. Only a sweep with the same arguments may continue a stopped sweep."""
        with self._files.locked():
            found = self._files.read(ARGUMENTS)
            text = json.dumps(arguments, sort_keys=True, indent=1)
            if found is None:
                self._files.write(ARGUMENTS, text.encode())
            elif _decoded(found, f"{self.name}/{ARGUMENTS}") != json.loads(text):
                raise _freehold.InputError(
                    f"{self.name} is of a sweep with other traces, settings or another version of Freehold; give the same "
                    "arguments to go on, or name another folder"
                )
            yield self

    def rows(self, shard):
        """The rows of a shard; None if the shard is not finished."""
        found = self._files.read(shard.file)
        return None if found is None else _freehold.rows_of_parquet(found)

    def write(self, shard, rows):
        """Writes a finished shard."""
        self._files.write(shard.file, bytes(_freehold.rows_to_parquet(rows)))


def _decoded(found, name):
    try:
        return json.loads(found)
    except ValueError as error:
        raise _freehold.InputError(
            f"{name} is damaged, so the sweep of the folder is unknown; name another folder, or delete the file: {error}"
        ) from error


def file_of(trace, first):
    """The file name of a shard: the trace as partition, and the first run."""
    return f"trace={urllib.parse.quote(trace, safe='')}/runs-{first:09}.parquet"


class _Local:
    def __init__(self, folder):
        self._folder = pathlib.Path(folder)

    @contextlib.contextmanager
    def locked(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self._folder / "_lock", "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _freehold.InputError(
                    f"another sweep works on {self._folder}; wait for it, or name another folder"
                ) from None
            yield

    def read(self, name):
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name, contents):
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        begun = path.with_name(f"_{path.name}.{os.getpid()}")
        try:
            with open(begun, "wb") as file:
                file.write(contents)
                file.flush()
                os.fsync(file.fileno())
            os.replace(begun, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                begun.unlink()
            raise _freehold.Error(
                f"{path} cannot be written; the finished shards are kept: make room and start the same sweep again: {error}"
            ) from error


class _Remote:
    """A folder of an object store, in which files appear complete. It has no lock against a second sweep."""

    def __init__(self, url):
        import fsspec

        self._url = url
        try:
            self._store, folder = fsspec.core.url_to_fs(url)
        except Exception as error:  # Each store has its own exceptions.
            raise _freehold.InputError(f"{url} cannot be opened: {error!r}") from error
        self._folder = folder.rstrip("/")

    def locked(self):
        return contextlib.nullcontext()

    def read(self, name):
        try:
            return self._store.cat_file(f"{self._folder}/{name}")
        except FileNotFoundError:
            return None
        except Exception as error:  # Each store has its own exceptions.
            raise _freehold.Error(f"{self._url}/{name} cannot be read: {error!r}") from error

    def write(self, name, contents):
        path = f"{self._folder}/{name}"
        try:
            for folder in dict.fromkeys([self._folder, os.path.dirname(path)]):
                # A bucket is not created, because its name may be a typing error.
                if "/" in folder:
                    with contextlib.suppress(FileExistsError):
                        self._store.mkdir(folder, create_parents=False)
            self._store.pipe_file(path, contents)
        except Exception as error:
            raise _freehold.Error(
                f"{self._url}/{name} cannot be written; the finished shards are kept: start the same sweep again once it can: {error!r}"
            ) from error
