package io.github.gpujoin.rdma.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SharedFileTest {

    @TempDir private Path directory;

    @Test
    void shouldBeTheOwnersAloneAndLoseItsNameOnceItIsMapped() throws Exception {
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
    void shouldRefuseDescriptorsThatNameNoRing(String descriptor) throws Exception {
        try (ShmTransport shm = new ShmTransport(directory)) {
            assertThatExceptionOfType(TransportException.class)
                    .isThrownBy(() -> shm.map(descriptor.getBytes(StandardCharsets.US_ASCII)))
                    .withMessageStartingWith("a descriptor of shm names a ring");
        }
    }

    static Stream<byte[]> descriptors() {
        return Stream.of("gpu-join-ring-" + "0".repeat(32), "gpu-join-ring-../x", "\0")
                .map(name -> name.getBytes(StandardCharsets.US_ASCII));
    }

    /** The directory holds no ring, so a descriptor that opens anything opened it elsewhere. */
    @MethodSource("descriptors")
    @FuzzTest(maxDuration = "5m")
    void shouldOpenNothingBesideItsDirectory(byte[] descriptor) {
        if (descriptor != null) {
            assertThatExceptionOfType(TransportException.class)
                    .isThrownBy(() -> SharedFile.open(directory, descriptor));
        }
    }

    @Test
    void shouldRefuseAFileThatOthersMayOpen() throws Exception {
        String name = "gpu-join-ring-" + "0".repeat(32);
        Path file = Files.write(directory.resolve(name), new byte[64]);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(
                        () -> SharedFile.open(directory, name.getBytes(StandardCharsets.US_ASCII)))
                .withMessageStartingWith("a ring is its owner's alone");
    }

    /** As between the making of a file and its lock. */
    @Test
    void shouldNotTakeANewFileForALeftOverOne() throws Exception {
        Path file = Files.write(directory.resolve("gpu-join-ring-" + "0".repeat(32)), new byte[64]);
        new ShmTransport(directory).close();
        assertThat(file).exists();
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(90)));
        new ShmTransport(directory).close();
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldSayHowToGetADirectory() {
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> new ShmTransport(directory.resolve("missing")))
                .withMessageStartingWith("shm needs a directory in memory that it may write");
    }

    private List<Path> files() throws Exception {
        try (Stream<Path> all = Files.list(directory)) {
            return all.toList();
        }
    }
}
