"""Hadoop file systems, from the driver and from tasks.

The driver has a gateway to its JVM. Tasks have none: a Python worker that needs a file system starts a small JVM of
its own, once, with the classes of the executor and the configuration of the driver. Bytes go from the file system to
a local file within that JVM, and never through Python. Files of the local file system are read where they are.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from py4j.java_gateway import JavaGateway
from pyspark import SparkContext, SparkFiles


@dataclass(frozen=True)
class FileStatus:
    path: str
    size: int
    is_folder: bool
    #: Modification time, in seconds.
    changed: int


def local_path(path: str) -> str | None:
    """The local path of a `file:` URL, which must exist on every machine; None for other file systems."""
    parts = urlsplit(path)
    return unquote(parts.path) if parts.scheme == "file" else None


class Hadoop:
    """The file systems of a JVM."""

    def __init__(self, jvm, configuration):
        self._jvm = jvm
        self._configuration = configuration

    @staticmethod
    def of_driver(context: SparkContext) -> Hadoop:
        return Hadoop(context._jvm, context._jsc.hadoopConfiguration())

    def configuration_xml(self) -> str:
        """The configuration, for `of_task`."""
        writer = self._jvm.java.io.StringWriter()
        self._configuration.writeXml(writer)
        return writer.toString()

    def find(self, pattern: str) -> list[FileStatus]:
        """The files and folders that match a path or a glob, sorted by name; full paths."""
        system, path = self._open(pattern)
        return _by_path(system.globStatus(path) or ())

    def list(self, folder: str) -> list[FileStatus]:
        system, path = self._open(folder)
        return _by_path(system.listStatus(path))

    def full_path(self, path: str) -> str:
        system, given = self._open(path)
        return system.makeQualified(given).toString()

    def read(self, path: str, start: int, length: int) -> bytes:
        """A few bytes of a file; fewer at its end."""
        with tempfile.NamedTemporaryFile(prefix="mementomap-") as file:
            self.copy(path, start, start + length, file.name)
            return file.read()

    def copy(self, path: str, start: int, end: int, local: str, at: int = 0) -> int:
        """Copies bytes of a file to an offset in a local file; returns how many."""
        system, source = self._open(path)
        stored = system.open(source)
        try:
            stored.seek(start)
            target = self._jvm.java.io.RandomAccessFile(local, "rw")
            try:
                target.seek(at)
                output = self._jvm.java.nio.channels.Channels.newOutputStream(target.getChannel())
                return self._jvm.org.apache.commons.io.IOUtils.copyLarge(stored, output, 0, end - start)
            finally:
                target.close()
        finally:
            stored.close()

    def upload(self, local: str, path: str) -> None:
        """Copies a local file to a path; replaces an existing file, which an earlier attempt may have left."""
        system, target = self._open(path)
        source = self._jvm.org.apache.hadoop.fs.Path(f"file://{local}")
        system.mkdirs(target.getParent())
        system.copyFromLocalFile(False, True, source, target)

    def exists(self, path: str) -> bool:
        system, found = self._open(path)
        return system.exists(found)

    def rename(self, path: str, name: str) -> None:
        system, found = self._open(path)
        if not system.rename(found, self._jvm.org.apache.hadoop.fs.Path(name)):
            raise OSError(f"cannot rename {path} to {name}")

    def delete(self, path: str) -> None:
        system, found = self._open(path)
        system.delete(found, True)

    def _open(self, path: str):
        found = self._jvm.org.apache.hadoop.fs.Path(path)
        return found.getFileSystem(self._configuration), found


def _by_path(found) -> list[FileStatus]:
    every = (
        FileStatus(one.getPath().toString(), one.getLen(), one.isDirectory(), one.getModificationTime() // 1000)
        for one in found
    )
    return sorted(every, key=lambda status: status.path)


#: The file systems of this worker process, once used.
_of_worker: Hadoop | None = None


def hadoop_of_task(configuration_xml: str) -> Hadoop:
    """The file systems for a task; starts a JVM for the first task of a worker."""
    global _of_worker
    if _of_worker is None:
        _of_worker = _start_jvm(configuration_xml)
    return _of_worker


def _start_jvm(configuration_xml: str) -> Hadoop:
    java, classes = _java_of_executor()
    gateway = JavaGateway.launch_gateway(
        jarpath=os.devnull,  # its classes are among those of Spark
        classpath=classes,
        javaopts=["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
        java_path=java,
        die_on_exit=True,
        enable_auth=True,
    )
    configuration = gateway.jvm.org.apache.hadoop.conf.Configuration()
    # A stream is read once; a file would be read again whenever classes add defaults.
    configuration.addResource(gateway.jvm.java.io.ByteArrayInputStream(bytearray(configuration_xml, "utf-8")))
    configuration.size()
    return Hadoop(gateway.jvm, configuration)


def _java_of_executor() -> tuple[str, str]:
    """The program and classpath of the JVM that started this process, and the jars added to it."""
    added = os.path.join(os.path.abspath(SparkFiles.getRootDirectory()), "*")
    process = os.getppid()
    while process > 1:
        command = _of_process(process, "cmdline").rstrip("\0").split("\0")
        if os.path.basename(command[0]) == "java":
            options = [command[i + 1] for i, word in enumerate(command) if word in ("-cp", "-classpath")]
            return command[0], f"{options[0] if options else os.environ.get('CLASSPATH', '')}:{added}"
        process = int(_of_process(process, "stat").rpartition(")")[2].split()[1])
    home = os.environ.get("SPARK_HOME", "")
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    return java, f"{os.path.join(home, 'jars', '*')}:{added}"


def _of_process(process: int, name: str) -> str:
    """A /proc file of a process; on other systems than Linux, as if it had no parent."""
    try:
        with open(f"/proc/{process}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ") - 0"
