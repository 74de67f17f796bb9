package io.github.gpujoin.rdma.transport.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.rdma.transport.TransportException;
import java.io.File;
import java.net.InetAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UcxLibraryTest {

    @TempDir private Path folder;

    @Test
    void shouldSayWhatToInstallWhereUcxIsMissing() {
        String cause = "libucp.so.0: cannot open shared object file: No such file or directory";
        assertThat(UcxLibrary.missing(cause, null))
                .hasMessage(
                        "ucx needs the libraries of UCX 1.12 or later: cause="
                                + cause
                                + " (install them: apt-get install libucx0)");
    }

    @Test
    void shouldSayWhereJucxsOwnLibraryRuns() {
        assertThat(UcxLibrary.missing("libjucx.so: wrong ELF class", null))
                .hasMessageContaining("is for Linux on amd64");
    }

    @Test
    void shouldRefuseAnEarlierUcx() throws Exception {
        Path old = Files.writeString(folder.resolve("libucp.so.0"), "ELF ucp_worker_create");
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> UcxLibrary.requireCurrent(old))
                .withMessageStartingWith("ucx needs UCX 1.12 or later: library=" + old);
    }

    @Test
    void shouldFindTheLibraryThatIsLoaded() throws Exception {
        Path maps =
                Files.writeString(
                        folder.resolve("maps"),
                        "7f00-7f10 r-xp 00000000 08:01 11     /usr/lib/libucs.so.0.0.0\n"
                                + "7f20-7f30 r-xp 00000000 08:01 12     /opt/u c x/libucp.so.0.0.0\n");
        assertThat(UcxLibrary.loadedUcp(maps)).isEqualTo(Path.of("/opt/u c x/libucp.so.0.0.0"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "tcp,", "tcp rc", "^tcp", "tcp;rm"})
    void shouldRefuseWhatIsNoListOfTransports(String transports) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new UcxOptions(InetAddress.getLoopbackAddress(), transports))
                .withMessage(
                        "UCX's transports are names separated by commas: transports=" + transports);
    }

    @Test
    @EnabledIfUcx
    void shouldSayThatThereIsNoneOfTheTransports() {
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> open("nosuch"))
                .withMessageStartingWith(
                        "ucx needs one of the transports asked for: transports=nosuch");
    }

    @Test
    @EnabledIfUcx
    void shouldListenOnItsAddressAlone() throws Exception {
        try (UcxTransport transport = open(UcxOptions.TCP)) {
            transport.registerTarget(4096);
            List<String> addresses = listening();
            assertThat(addresses).isNotEmpty().allMatch(address -> address.startsWith("0100007F:"));
        }
    }

    @Test
    void shouldDeleteLoadedCopiesAndNothingElse() throws Exception {
        Path copy = Files.createDirectory(folder.resolve("jucx123")).resolve("libjucx.so");
        Path installed = Files.createDirectory(folder.resolve("lib")).resolve("libjucx.so");
        Path maps = folder.resolve("maps");
        String line = "7f00-7f10 r-xp 00000000 08:01 11     ";
        Files.writeString(
                maps,
                String.join(
                        "\n",
                        line + Files.createFile(copy),
                        line + copy,
                        line + Files.createFile(installed),
                        line + folder.resolve("jucx124/libjucx.so") + " (deleted)"));
        UcxLibrary.deleteCopies(maps);
        assertThat(copy.getParent()).doesNotExist();
        assertThat(installed).exists();
    }

    @Test
    @EnabledIfUcx
    void shouldLeaveNoCopyOfJucxBehind() throws Exception {
        open(UcxOptions.TCP).close();
        assertThat(Files.readAllLines(Path.of("/proc/self/maps")))
                .filteredOn(line -> line.contains("/libjucx.so"))
                .isNotEmpty()
                .allMatch(line -> line.endsWith("(deleted)"));
    }

    /** Two jobs of a TaskManager. */
    @Test
    @EnabledIfUcx
    void shouldLoadInEachClassLoader() throws Exception {
        List<URL> classPath = new ArrayList<>();
        String entries =
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : entries.split(File.pathSeparator)) {
            classPath.add(Path.of(entry).toUri().toURL());
        }
        URL[] urls = classPath.toArray(URL[]::new);
        for (int job = 0; job < 2; job++) {
            try (URLClassLoader loader =
                    new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
                Class<?> options = loader.loadClass(UcxOptions.class.getName());
                Class<?> transport = loader.loadClass(UcxTransport.class.getName());
                assertThat(transport).isNotSameAs(UcxTransport.class);
                Object opened =
                        transport
                                .getConstructor(options)
                                .newInstance(
                                        options.getConstructor(InetAddress.class, String.class)
                                                .newInstance(
                                                        InetAddress.getLoopbackAddress(),
                                                        UcxOptions.TCP));
                transport.getMethod("registerTarget", long.class).invoke(opened, 4096L);
                transport.getMethod("close").invoke(opened);
            }
        }
    }

    /** The JVM finds null by SIGSEGV, which UCX by itself would take for the end. */
    @Test
    @EnabledIfUcx
    void shouldLeaveSignalsToTheJvm() throws Exception {
        open(UcxOptions.TCP).close();
        int caught = 0;
        for (int i = 0; i < 200_000; i++) {
            try {
                caught += length(i % 100 == 99 ? null : folder.toString()) < 0 ? 1 : 0;
            } catch (NullPointerException e) {
                caught++;
            }
        }
        assertThat(caught).isEqualTo(2000);
    }

    private static int length(String text) {
        return text.length();
    }

    private static UcxTransport open(String transports) throws TransportException {
        return new UcxTransport(new UcxOptions(InetAddress.getLoopbackAddress(), transports));
    }

    /** Local addresses, in the kernel's form, of this process's listening TCP sockets on IPv4. */
    private static List<String> listening() throws Exception {
        List<String> inodes = new ArrayList<>();
        for (File descriptor : Path.of("/proc/self/fd").toFile().listFiles()) {
            String target;
            try {
                target = Files.readSymbolicLink(descriptor.toPath()).toString();
            } catch (NoSuchFileException e) {
                continue; // closed since the folder was listed
            }
            if (target.startsWith("socket:[")) {
                inodes.add(target.substring(8, target.length() - 1));
            }
        }
        return Files.readAllLines(Path.of("/proc/net/tcp")).stream()
                .map(line -> line.strip().split("\\s+"))
                .filter(field -> field.length > 9 && field[3].equals("0A"))
                .filter(field -> inodes.contains(field[9]))
                .map(field -> field[1])
                .toList();
    }
}
