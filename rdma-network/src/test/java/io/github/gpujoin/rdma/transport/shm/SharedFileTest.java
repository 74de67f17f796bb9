// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(RegionLeakExtension.class)
class SharedFileTest {

    private static final String NAME = "gpu-join-ring-" + "0".repeat(32);
    private static final FileTime LONG_AGO = FileTime.from(Instant.now().minusSeconds(90));

    @TempDir private Path directory;

    @Test
    void shouldBelongToItsOwnerAndLoseItsNameWhenMapped() throws Exception {
        try (ShmTransport shm = new ShmTransport(directory);
                Target target = shm.registerTarget(4096)) {
            Path file = files().get(0);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            try (RegisteredMemory mapped = shm.map(target.descriptor())) {
                assertThat(files()).isEmpty();
                assertThat(mapped.lengthBytes()).isEqualTo(4096);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "../gpu-join-ring-0", "/etc/passwd", "gpu-join-ring-00000000000000000"})
    void shouldRejectDescriptorsThatNameNoRing(String descriptor) throws Exception {
        try (ShmTransport shm = new ShmTransport(directory)) {
            assertThatExceptionOfType(TransportException.class)
                    .isThrownBy(() -> shm.map(descriptor.getBytes(StandardCharsets.US_ASCII)))
                    .withMessageStartingWith("Descriptor names no shared ring");
        }
    }

    static Stream<byte[]> descriptors() {
        return Stream.of("gpu-join-ring-" + "0".repeat(32), "gpu-join-ring-../x", "\0")
                .map(name -> name.getBytes(StandardCharsets.US_ASCII));
    }

    /** The directory contains no ring, so a descriptor that opens a file opened it elsewhere. */
    @MethodSource("descriptors")
    @FuzzTest(maxDuration = "5m")
    void shouldOpenNoFileOutsideItsDirectory(byte[] descriptor) {
        if (descriptor != null) {
            assertThatExceptionOfType(TransportException.class).isThrownBy(() -> open(descriptor));
        }
    }

    @Test
    void shouldRejectAFileThatOthersMayOpen() throws Exception {
        Path file = Files.write(directory.resolve(NAME), new byte[64]);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertRejectedAsNoRing();
    }

    @Test
    void shouldRejectAFileOfAnotherUser() throws Exception {
        ownFile(64);
        UserPrincipal other =
                directory
                        .getFileSystem()
                        .getUserPrincipalLookupService()
                        .lookupPrincipalByName("daemon");
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> SharedFile.open(directory, other, bytes(NAME)))
                .withMessage(
                        "Not a ring of this user: path=%s, user=daemon. A ring is a regular file with permissions rw-------.",
                        directory.resolve(NAME));
        SharedFile.sweep(directory, other);
        assertThat(directory.resolve(NAME)).exists();
    }

    @Test
    void shouldRejectALinkToARing() throws Exception {
        Path ring = Files.move(ownFile(64), directory.resolve("elsewhere"));
        Files.createSymbolicLink(directory.resolve(NAME), ring);
        assertRejectedAsNoRing();
        new ShmTransport(directory).close();
        assertThat(ring).exists();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, (1L << 30) + 1, 1L << 40})
    void shouldRejectAFileOfAWrongLength(long lengthBytes) throws Exception {
        ownFile(lengthBytes);
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> open(bytes(NAME)))
                .withMessageStartingWith("Ring of a wrong length")
                .withMessageContaining("lengthBytes=" + lengthBytes);
    }

    /** Opening a FIFO blocks until another process opens its other end. */
    @Test
    void shouldNotBlockOnAFifoNamedLikeARing() throws Exception {
        Path fifo = directory.resolve(NAME);
        run("mkfifo", "-m", "600", fifo.toString());
        run("touch", "-h", "-d", "2 minutes ago", fifo.toString());
        Thread both =
                daemon(
                        () -> {
                            assertThatCode(() -> new ShmTransport(directory).close())
                                    .doesNotThrowAnyException();
                            assertRejectedAsNoRing();
                        });
        both.start();
        both.join(10_000);
        assertThat(both.isAlive()).as("blocked on the FIFO").isFalse();
        assertThat(fifo).exists();
    }

    @Test
    void shouldMapARingForOnlyOneOfTwoWriters() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2, SharedFileTest::daemon);
        for (int round = 0; round < 300; round++) {
            ownFile(64);
            Callable<SharedFile> writer = () -> open(bytes(NAME));
            int mapped = 0;
            for (Future<SharedFile> result : threads.invokeAll(List.of(writer, writer))) {
                try {
                    result.get().close();
                    mapped++;
                } catch (ExecutionException e) {
                    assertThat(e).hasCauseInstanceOf(TransportException.class);
                }
            }
            assertThat(mapped).isEqualTo(1);
        }
        threads.shutdown();
    }

    /** As between the creation of a file and its lock. */
    @Test
    void shouldNotSweepANewFile() throws Exception {
        Path file = ownFile(64);
        new ShmTransport(directory).close();
        assertThat(file).exists();
        Files.setLastModifiedTime(file, LONG_AGO);
        new ShmTransport(directory).close();
        assertThat(file).doesNotExist();
    }

    /** The names of other files may start like a ring's. */
    @Test
    void shouldNotSweepOldFilesOfOtherNames() throws Exception {
        Path file = Files.move(ownFile(64), directory.resolve(NAME + ".bak"));
        Files.setLastModifiedTime(file, LONG_AGO);
        new ShmTransport(directory).close();
        assertThat(file).exists();
    }

    @Test
    void shouldReportAnUnusableDirectory() {
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> new ShmTransport(directory.resolve("missing")))
                .withMessageStartingWith("Cannot write to the directory of shared rings");
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    private Path ownFile(long lengthBytes) throws IOException {
        Path file = directory.resolve(NAME);
        Files.createFile(
                file,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(lengthBytes);
        }
        return file;
    }

    private SharedFile open(byte[] descriptor) throws IOException {
        return SharedFile.open(directory, SharedFile.user(directory), descriptor);
    }

    private void assertRejectedAsNoRing() {
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> open(bytes(NAME)))
                .withMessageStartingWith("Not a ring of this user: path=");
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    private List<Path> files() throws Exception {
        try (Stream<Path> all = Files.list(directory)) {
            return all.toList();
        }
    }
}
