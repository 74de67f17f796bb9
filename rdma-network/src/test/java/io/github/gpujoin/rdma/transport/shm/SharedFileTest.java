package io.github.gpujoin.rdma.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.transport.Access;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedFileTest {

    @TempDir private Path directory;

    @Test
    void shouldBeTheOwnersAloneAndLoseItsNameOnceItIsMapped() throws Exception {
        try (ShmTransport shm = new ShmTransport(directory);
                RegisteredMemory target = shm.register(4096, Access.TARGET);
                RegisteredMemory source = shm.register(64, Access.SOURCE)) {
            Path file = files().get(0);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            try (Connection connection = shm.connect(target.descriptor(), source)) {
                assertThat(files()).isEmpty();
                Memory.putLong(source.address() + 8, 77);
                connection.write(8, 4088, 8);
                assertThat(Memory.getLong(target.address() + 4088)).isEqualTo(77);
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> connection.write(8, 4089, 8))
                        .withMessage(
                                "a write stays in its memory: offset=4089, lengthBytes=8,"
                                        + " memoryBytes=4096");
            }
            assertThatExceptionOfType(TransportException.class)
                    .isThrownBy(() -> shm.connect(target.descriptor(), source))
                    .withMessageStartingWith("shm joins processes of one host");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "../gpu-join-ring-0", "/etc/passwd", "gpu-join-ring-00000000000000000"})
    void shouldRefuseDescriptorsThatNameNoRing(String descriptor) throws Exception {
        try (ShmTransport shm = new ShmTransport(directory);
                RegisteredMemory source = shm.register(64, Access.SOURCE)) {
            assertThatExceptionOfType(TransportException.class)
                    .isThrownBy(
                            () ->
                                    shm.connect(
                                            descriptor.getBytes(StandardCharsets.US_ASCII), source))
                    .withMessageStartingWith("a descriptor of shm names a ring");
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
