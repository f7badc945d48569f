"""What a user put into a project's folder survives every compile; generated files are replaced all or none."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codegen.emit import aside, write_project
from codegen.emit.aside import folder_aside
from codegen.emit.listing import with_manifest
from codegen.errors import (
    CompileError,
    OutputBlocked,
    OutputBusy,
    OutputEdited,
    OutputNotOurs,
    OutputNotWritable,
    ProjectUnfinished,
)
from codegen.host import read_manifest
from codegen.resources import ASIDE, JOURNAL

Snapshot = dict[str, bytes]


def project(name: str = "kws", version: int = 1, **more: bytes) -> Snapshot:
    """The files of a small project."""
    text = f"/* {name} {version} */\n".encode()
    paths = (f"include/{name}.h", f"src/{name}.c", f"src/{name}_layers.c", "runtime/lam_base.h", "README.md")
    files = {path: path.encode() + b" " + text for path in paths} | more
    return with_manifest(files, {"tool": "lamina", "name": name, "model_sha256": "0" * 64})[0]


def held(folder: Path) -> Snapshot:
    """Every file below a folder by its path; of links where they lead."""
    return {
        str(p.relative_to(folder)): os.fsencode(os.readlink(p)) if p.is_symlink() else p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_symlink() or not p.is_dir()
    }


def folders(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_dir()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A project with what users put into such folders."""
    out = tmp_path / "kws"
    write_project(out, project())
    for path in (".git/HEAD", "build/CMakeCache.txt", "zephyr/module.yml", "notes.txt", "src/mine.c", "include/.keep"):
        (out / path).parent.mkdir(exist_ok=True)
        (out / path).write_text(f"mine: {path}\n")
    (out / "empty").mkdir()
    return out


def mine(out: Path) -> Snapshot:
    return {path: data for path, data in held(out).items() if data.startswith(b"mine")}


def test_compiling_again_keeps_everything_that_the_tool_did_not_write(out: Path) -> None:
    before = mine(out)
    write_project(out, project(version=2))
    assert held(out) == {**before, **project(version=2)}
    assert len(before) == 6
    assert (out / "empty").is_dir()


def test_files_of_no_use_any_more_go_and_so_do_their_folders_when_empty(out: Path) -> None:
    before = mine(out)
    write_project(out, with_manifest({"src/other.c": b"1", "README.md": b"2"}, {"tool": "lamina"})[0])
    assert set(held(out)) == {*before, "src/other.c", "README.md", "manifest.json"}
    assert {"include", "src", "empty"} <= folders(out)
    assert "runtime" not in folders(out)


def test_the_manifest_lists_every_file_with_its_hash(tmp_path: Path) -> None:
    write_project(tmp_path / "d", project())
    listed = json.loads((tmp_path / "d" / "manifest.json").read_bytes())["files"]
    assert set(listed) == set(held(tmp_path / "d"))
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in listed.values())
    assert len(set(listed.values())) == len(listed)


EDITED = ("README.md", "src/kws.c", "runtime/lam_base.h", "manifest.json")


@pytest.mark.parametrize("edit", [lambda data: data + b" ", lambda data: data.replace(b"\n", b"\r\n"), lambda _: b""])
def test_edited_files_are_named_all_at_once_and_none_is_touched(out: Path, edit: Callable[[bytes], bytes]) -> None:
    for path in EDITED[:-1]:
        (out / path).write_bytes(edit((out / path).read_bytes()))
    before = held(out)
    with pytest.raises(OutputEdited) as refused:
        write_project(out, project(version=2))
    assert all(path in refused.value.text() for path in EDITED[:-1])
    assert "kws_layers" not in refused.value.text()
    assert held(out) == before
    write_project(out, project(version=2), force=True)
    assert held(out) == {**mine(out), **project(version=2)}


@pytest.mark.parametrize("edit", [lambda data: data + b" ", lambda data: data.replace(b"\n", b"\r\n")])
def test_an_edited_manifest_is_an_edited_file(out: Path, edit: Callable[[bytes], bytes]) -> None:
    (out / "manifest.json").write_bytes(edit((out / "manifest.json").read_bytes()))
    with pytest.raises(OutputEdited, match=r"manifest\.json"):
        write_project(out, project(version=2))


def test_no_name_is_left_out_of_a_long_list(tmp_path: Path) -> None:
    many = {f"runtime/lam_header_number_{i}.h": b"1" for i in range(100)}
    write_project(tmp_path / "d", project(**many))
    for path in many:
        (tmp_path / "d" / path).write_bytes(b"2")
    with pytest.raises(OutputEdited) as refused:
        write_project(tmp_path / "d", project(version=2, **many))
    assert [path for path in many if path not in refused.value.text()] == []


def test_an_edited_file_is_said_to_be_edited(out: Path) -> None:
    (out / "src" / "kws.c").write_bytes(b"mine")
    with pytest.raises(OutputEdited, match=r"src/kws\.c \(edited\)"):
        write_project(out, project(version=2))


def test_changed_line_ends_are_said_to_be_only_that(out: Path) -> None:
    (out / "README.md").write_bytes((out / "README.md").read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(OutputEdited, match=r"README.md \(only its line ends\)"):
        write_project(out, project(version=2))


def test_an_edited_file_that_the_new_project_has_not_is_kept_even_by_force(out: Path) -> None:
    (out / "src" / "kws_layers.c").write_bytes(b"mine too")
    renamed = project("other")
    with pytest.raises(OutputEdited, match=r"src/kws_layers\.c"):
        write_project(out, renamed)
    write_project(out, renamed, force=True)
    assert held(out) == {**mine(out), **renamed}
    assert (out / "src" / "kws_layers.c").read_bytes() == b"mine too"


def test_a_file_of_the_users_in_the_place_of_a_new_one_is_not_replaced(out: Path) -> None:
    with pytest.raises(OutputEdited, match=r"src/mine\.c \(not the project's\)"):
        write_project(out, project(**{"src/mine.c": b"generated"}))
    assert (out / "src" / "mine.c").read_bytes() == b"mine: src/mine.c\n"


def test_an_edit_back_to_what_is_written_anyway_is_none(out: Path) -> None:
    (out / "README.md").write_bytes(project(version=2)["README.md"])
    write_project(out, project(version=2))
    assert held(out) == {**mine(out), **project(version=2)}


def test_a_file_that_was_deleted_is_written_again(out: Path) -> None:
    (out / "README.md").unlink()
    shutil.rmtree(out / "runtime")
    write_project(out, project(version=2))
    assert held(out) == {**mine(out), **project(version=2)}


def test_files_that_stay_as_they_are_keep_their_time(out: Path) -> None:
    os.utime(out / "README.md", ns=(5, 5))
    write_project(out, project())
    assert (out / "README.md").stat().st_mtime_ns == 5


def test_read_only_files_are_replaced_and_stay_read_only(out: Path) -> None:
    (out / "src" / "kws.c").chmod(0o444)
    write_project(out, project(version=2))
    assert (out / "src" / "kws.c").read_bytes() == project(version=2)["src/kws.c"]
    assert stat.S_IMODE((out / "src" / "kws.c").stat().st_mode) == 0o444


NOT_OURS: dict[str, dict[str, bytes]] = {
    "names of a project": {"manifest.json": b"{}", "src/a.c": b"", "include/a.h": b""},
    "another tool's manifest": {"manifest.json": b'{"tool": "webpack", "files": {}}'},
    "no JSON": {"manifest.json": b"{" * 9},
    "deep JSON": {"manifest.json": b"[" * 100_000},
    "no text": {"manifest.json": b"\xff\xfe\x00"},
    "a list": {"manifest.json": b"[]"},
    "no manifest": {"src/a.c": b"", "include/a.h": b""},
    "a way up": {"manifest.json": json.dumps({"tool": "lamina", "files": {"../x": "0" * 64}}).encode()},
    "an absolute path": {"manifest.json": json.dumps({"tool": "lamina", "files": {"/tmp/x": "0" * 64}}).encode()},
    "a hidden way up": {"manifest.json": json.dumps({"tool": "lamina", "files": {"src/../../x": "0" * 64}}).encode()},
    "no hashes": {"manifest.json": json.dumps({"tool": "lamina", "files": {"x": 5}}).encode()},
    "a list of files": {"manifest.json": json.dumps({"tool": "lamina", "files": ["x"]}).encode()},
}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("what", NOT_OURS)
def test_a_folder_that_holds_no_project_is_left_alone(tmp_path: Path, what: str, force: bool) -> None:
    (tmp_path / "x").write_bytes(b"mine")
    for path, data in NOT_OURS[what].items():
        (tmp_path / "d" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "d" / path).write_bytes(data)
    with pytest.raises(OutputNotOurs):
        write_project(tmp_path / "d", project(), force=force)
    assert held(tmp_path / "d") == NOT_OURS[what]
    assert (tmp_path / "x").read_bytes() == b"mine"


def test_of_a_project_without_hashes_nothing_is_replaced_but_by_force(tmp_path: Path) -> None:
    old = {path: data for path, data in project().items() if path != "manifest.json"}
    old |= {"manifest.json": b'{"tool": "lamina"}', "src/old.c": b"old"}
    for path, data in old.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    with pytest.raises(OutputEdited, match="kept no hashes"):
        write_project(tmp_path, project(version=2))
    assert held(tmp_path) == old
    write_project(tmp_path, project(version=2), force=True)
    assert held(tmp_path) == {"src/old.c": b"old", **project(version=2)}


def test_a_link_to_the_folder_stays_a_link(out: Path, tmp_path: Path) -> None:
    before = mine(out)
    link = tmp_path / "link"
    link.symlink_to("kws")
    write_project(link, project(version=2))
    assert os.readlink(link) == "kws"
    assert held(out) == {**before, **project(version=2)}
    fresh = tmp_path / "fresh"
    fresh.symlink_to(tmp_path / "not_there_yet")
    write_project(fresh, project())
    assert fresh.is_symlink()
    assert held(tmp_path / "not_there_yet") == project()


def test_a_link_in_the_place_of_a_file_is_not_followed(out: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.c"
    outside.write_bytes(project()["src/kws.c"])
    (out / "src" / "kws.c").unlink()
    (out / "src" / "kws.c").symlink_to(outside)
    with pytest.raises(OutputEdited, match=r"src/kws.c \(a symbolic link\)"):
        write_project(out, project(version=2))
    write_project(out, project(version=2), force=True)
    assert not (out / "src" / "kws.c").is_symlink()
    assert outside.read_bytes() == project()["src/kws.c"]


@pytest.mark.parametrize("force", [False, True])
def test_a_link_in_the_place_of_a_folder_is_not_followed(out: Path, tmp_path: Path, force: bool) -> None:
    shutil.move(out / "src", tmp_path / "elsewhere")
    (out / "src").symlink_to(tmp_path / "elsewhere")
    before = held(tmp_path / "elsewhere")
    with pytest.raises(OutputBlocked, match="src is a symbolic link, not a folder"):
        write_project(out, project(version=2), force=force)
    assert held(tmp_path / "elsewhere") == before


@pytest.mark.parametrize("force", [False, True])
def test_what_stands_in_the_way_is_named_and_kept(out: Path, force: bool) -> None:
    shutil.rmtree(out / "runtime")
    (out / "runtime").write_text("a file")
    (out / "README.md").unlink()
    (out / "README.md").mkdir()
    (out / "src" / "kws.c").unlink()
    os.mkfifo(out / "src" / "kws.c")
    with pytest.raises(OutputBlocked) as refused:
        write_project(out, project(version=2), force=force)
    for what in ("runtime is a file, not a folder", "README.md is a folder", "src/kws.c is no ordinary file"):
        assert what in refused.value.text()
    assert (out / "runtime").read_text() == "a file"
    assert (out / "README.md").is_dir()


def test_names_that_differ_only_in_case_are_two_files_or_the_new_one(out: Path) -> None:
    before = mine(out)
    old = with_manifest({"Readme.md": b"old", "src/KWS.c": b"old"}, {"tool": "lamina"})[0]
    write_project(out, old)
    write_project(out, project(version=2))
    assert held(out) == {**before, **project(version=2)}


@pytest.mark.parametrize("folder", [".", "new", "new/folders/deep"])
def test_a_refusal_leaves_no_folder_behind(tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputNotWritable, match="No space left"):
        write_project(tmp_path / "empty" / folder, project())
    assert list(tmp_path.iterdir()) == []


EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "shutil.rmtree", "shutil.copymode"}


PAST = 5
"""How a child ends whose write had fewer steps than the one at which it was to be stopped."""


def in_child(work: Callable[[], int]) -> int:
    """How a forked process ended: what the work gives, 1 for a refusal, or minus the signal."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = work()
        except CompileError:
            code = 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def write_in_child(out: Path, files: Snapshot, step: int, act: Callable[[], None]) -> int:
    """Write a project, and act when files are touched for the `step`-th time."""
    left = [step]

    def hook(event: str, _: object) -> None:
        if event in EVENTS:
            left[0] -= 1
            if left[0] == 0:
                act()

    def work() -> int:
        sys.addaudithook(hook)
        write_project(out, files)
        return PAST if left[0] > 0 else 0

    return in_child(work)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def no_space() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.slow), 3], ids=["every step", "every third"])
def stride(request: pytest.FixtureRequest) -> int:
    """From one step at which a write is stopped to the next."""
    return int(request.param)


def all_steps(write: Callable[[int], int], stride: int) -> Iterator[tuple[int, int]]:
    """Steps at which a write can be stopped, and how the process ended."""
    for step in range(1, 500, stride):
        code = write(step)
        if code == PAST:
            assert step > 30
            return
        yield step, code
    pytest.fail("no end")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is forced onto the disk: that a process is killed or refused does not need it."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.usefixtures("quick")
def test_a_compile_killed_at_any_point_leaves_what_the_next_one_puts_right(out: Path, stride: int) -> None:
    owned, renamed = mine(out), project("other")
    for step, code in all_steps(lambda step: write_in_child(out, renamed, step, kill), stride):
        assert code == -signal.SIGKILL
        left = held(out)
        assert {path: data for path, data in left.items() if path in owned} == owned
        with folder_aside(out):
            restored = {path: data for path, data in held(out).items() if ASIDE not in path}
        assert restored in ({**owned, **project()}, {**owned, **renamed}), step
        write_project(out, project())
        assert held(out) == {**owned, **project()}, step
        assert ASIDE not in folders(out)


@pytest.mark.usefixtures("quick")
def test_a_first_compile_killed_at_any_point_is_no_obstacle_to_the_next(tmp_path: Path, stride: int) -> None:
    out = tmp_path / "new"
    for step, code in all_steps(lambda step: write_in_child(out, project(), step, kill), stride):
        assert code == -signal.SIGKILL
        write_project(out, project(version=2))
        assert held(tmp_path) == {f"new/{path}": data for path, data in project(version=2).items()}, step
        shutil.rmtree(out)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("quick")
def test_a_compile_that_fails_at_any_point_leaves_the_old_project_whole(out: Path, stride: int) -> None:
    before, there = held(out), folders(out)
    renamed = project("other")
    for step, code in all_steps(lambda step: write_in_child(out, renamed, step, no_space), stride):
        if code == 1:
            assert (held(out), folders(out)) == (before, there), step
        else:
            write_project(out, renamed)
            assert held(out) == {**mine(out), **renamed}
            write_project(out, project())


@pytest.mark.usefixtures("quick")
def test_a_compile_interrupted_at_any_point_leaves_a_whole_project(out: Path, stride: int) -> None:
    before, owned, renamed = held(out), mine(out), project("other")
    for step, _ in all_steps(lambda step: write_in_child(out, renamed, step, interrupt), stride):
        left = {path: data for path, data in held(out).items() if ASIDE not in path}
        assert left in (before, {**owned, **renamed}), step
        assert not (out / JOURNAL).exists()
        write_project(out, project())
        assert held(out) == before
        assert ASIDE not in folders(out)


@pytest.mark.usefixtures("quick")
def test_what_was_edited_after_a_kill_is_not_restored_over(out: Path) -> None:
    for step in range(1, 500, 2):
        if write_in_child(out, project(version=2), step, kill) == PAST:
            break
        if (out / JOURNAL).exists() and (out / "src" / "kws.c").read_bytes() == project(version=2)["src/kws.c"]:
            with pytest.raises(ProjectUnfinished):
                read_manifest(out)
            (out / "src" / "kws.c").write_bytes(b"edited")
            with pytest.raises(OutputEdited, match=r"src/kws.c"):
                write_project(out, project(version=2))
            assert held(out) == {**mine(out), **project(), "src/kws.c": b"edited"}
            return
    pytest.fail("no step between the moves")


def test_without_hard_links_old_files_are_copied(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    (out / "README.md").unlink()
    (out / "README.md").symlink_to("notes.txt")
    before = mine(out)
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", lambda self, _: (_ for _ in ()).throw(OSError(errno.EIO, str(self))))
        with pytest.raises(OutputNotWritable):
            write_project(out, project(version=2), force=True)
    assert os.readlink(out / "README.md") == "notes.txt"
    write_project(out, project(version=2), force=True)
    assert held(out) == {**before, **project(version=2)}


@pytest.mark.usefixtures("quick")
def test_two_compiles_do_not_interleave(out: Path) -> None:
    before = mine(out)
    versions = [project(f"net{i}", i) for i in range(6)]
    children = []
    for files in versions:
        child = os.fork()
        if child == 0:
            try:
                for _ in range(5):
                    write_project(out, files)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 6
    assert held(out) in [{**before, **files} for files in versions]


def test_what_another_compile_is_at_is_waited_for_and_not_cleaned(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "_PATIENCE_S", 0.05)
    with folder_aside(out) as busy:
        (busy / "new").mkdir()
        (busy / "new" / "half").write_text("half")
        with pytest.raises(OutputBusy):
            write_project(out, project(version=2))
        assert (busy / "new" / "half").read_text() == "half"
    monkeypatch.setattr(aside, "_PATIENCE_S", 30)
    with folder_aside(out):
        waiting = threading.Thread(target=write_project, args=(out, project(version=2)))
        waiting.start()
        time.sleep(0.1)
        assert (out / "README.md").read_bytes() == project()["README.md"]
    waiting.join()
    assert held(out) == {**mine(out), **project(version=2)}


HOSTILE: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda place, outside: place.symlink_to(outside),
    "journal with a way up": lambda place, outside: journal(place, {"../outside/new": "0" * 64}),
    "journal through a link": lambda place, outside: (
        (place.parent / "src").symlink_to(outside),
        journal(place, {"src/new/x": "0" * 64}),
    ),
    "link to old files": lambda place, outside: (
        journal(place, {"old/x": "0" * 64}),
        (place / "old").mkdir(),
        (place / "old" / "old").symlink_to(outside / "old"),
    ),
    "no journal": lambda place, outside: (place.mkdir(), (place / "journal.json").write_text("[")),
    "a number": lambda place, outside: (place.mkdir(), (place / "journal.json").write_text("7")),
}


def journal(place: Path, files: dict[str, str]) -> None:
    place.mkdir()
    (place / "journal.json").write_text(json.dumps({"files": files, "made": []}))


@pytest.mark.parametrize("what", HOSTILE)
def test_a_folder_aside_that_the_tool_did_not_make_leads_nowhere(tmp_path: Path, what: str) -> None:
    for path in ("outside/new/x", "outside/old/x", "outside/lock", "d/.keep"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("mine")
    before = held(tmp_path / "outside")
    HOSTILE[what](tmp_path / "d" / ASIDE, tmp_path / "outside")
    with pytest.raises(OutputNotOurs):
        write_project(tmp_path / "d", project())
    assert held(tmp_path / "outside") == before
