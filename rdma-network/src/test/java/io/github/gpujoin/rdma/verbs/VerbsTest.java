// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Checks of the native library without a device. */
@EnabledIf(
        value = "io.github.gpujoin.rdma.verbs.Verbs#hasNativeLibrary",
        disabledReason = "the jar was built without gcc, libibverbs-dev or librdmacm-dev")
class VerbsTest {

    private static final String DISPATCHER = "com.ibm.disni.verbs.impl.NativeDispatcher";

    @Test
    void shouldLoadDisniInSeveralClassLoadersAtOnce() throws Exception {
        ClassLoader one = Verbs.load(NativeLibrary.find());
        ClassLoader other = Verbs.load(NativeLibrary.find());

        assertThat(one.loadClass(DISPATCHER)).isNotSameAs(other.loadClass(DISPATCHER));
        assertThat(call(one, "_getVersion")).isEqualTo(call(other, "_getVersion")).isEqualTo(32);
    }

    @Test
    void shouldDeleteItsCopyOfTheLibrary() throws IOException {
        List<Path> before = privateFolders();
        Verbs.load(NativeLibrary.find());
        assertThat(before).containsAll(privateFolders());
    }

    @Test
    void shouldImplementEveryNativeMethodOfDisni() throws Exception {
        ClassLoader disni = Verbs.disni();
        String names = new String(NativeLibrary.find().bytes(), StandardCharsets.ISO_8859_1);
        for (String type : List.of(DISPATCHER, "com.ibm.disni.util.NativeAffinity")) {
            List<Method> natives =
                    Stream.of(disni.loadClass(type).getDeclaredMethods())
                            .filter(method -> Modifier.isNative(method.getModifiers()))
                            .toList();
            assertThat(natives).isNotEmpty();
            for (Method method : natives) {
                String mangled = method.getName().replace("_", "_1");
                assertThat(names).contains("Java_" + type.replace('.', '_') + "_" + mangled + "\0");
            }
        }
    }

    @Test
    void shouldAgreeWithDisniOnTheLayoutOfStructures() throws Exception {
        ClassLoader disni = Verbs.disni();
        assertThat(call(disni, "_getIbvWCSize")).isEqualTo(48);
        assertThat(call(disni, "_getIbvSgeSize")).isEqualTo(16);
        assertThat(call(disni, "_getIbvRecvWRSize")).isEqualTo(32);
        assertThat(call(disni, "_getSockAddrInSize")).isEqualTo(16);
        assertThat(call(disni, "_getRemoteAddressOffset")).isEqualTo(40);
        assertThat(call(disni, "_getRKeyOffset")).isEqualTo(48);
    }

    @Test
    void shouldReportUnsupportedCalls() throws IOException {
        ClassLoader disni = Verbs.disni();
        assertThatThrownBy(() -> call(disni, "_modifyQP", 1L, 0L))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Use the connection manager");
        assertThatThrownBy(() -> call(disni, "_queryOdpSupport", 1L))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Registered memory is pinned");
    }

    @Test
    void shouldRejectANullObject() throws IOException {
        ClassLoader disni = Verbs.disni();
        assertThatThrownBy(() -> call(disni, "_postSend", 0L, 0L))
                .isInstanceOf(IOException.class)
                .hasMessage("Native object is closed or was never created: missing=queue pair");
        assertThatThrownBy(() -> call(disni, "_deregMr", 0L))
                .hasMessageEndingWith("missing=memory region");
    }

    @Test
    void shouldRejectAFileThatIsNotALibrary() {
        NativeLibrary text = new NativeLibrary("a text", "no library".getBytes());
        assertThatThrownBy(() -> Verbs.load(text))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("Native library does not load: origin=a text, cause=")
                .hasMessageContaining("The library is damaged or built for another machine")
                .hasMessageEndingWith("(NO_LIBRARY)");
    }

    @Test
    void shouldReportAMissingLibraryOfRdmaCore() throws IOException {
        NativeLibrary library = NativeLibrary.find();
        byte[] bytes =
                new String(library.bytes(), StandardCharsets.ISO_8859_1)
                        .replace("libibverbs.so.1\0", "libibverbs.so.9\0")
                        .getBytes(StandardCharsets.ISO_8859_1);
        assertThatThrownBy(() -> Verbs.load(new NativeLibrary("jar", bytes)))
                .hasMessageContaining("libibverbs.so.9: cannot open shared object file")
                .hasMessageContaining("apt-get install libibverbs1 librdmacm1 ibverbs-providers");
    }

    @Test
    void shouldReportAMissingJvmOption() {
        assertThatCode(() -> Verbs.requireOpen(true)).doesNotThrowAnyException();
        assertThatThrownBy(() -> Verbs.requireOpen(false))
                .hasMessageContaining("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
                .hasMessageEndingWith("(CLOSED_JVM)");
    }

    @Test
    void shouldReportThatThisHostHasNoDevice() throws IOException {
        assumeThat(RdmaHost.local().devices()).as("RDMA devices of this host").isEmpty();
        assertThatThrownBy(() -> Verbs.open(InetAddress.getLoopbackAddress()))
                .isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("No RDMA device");
        assertThatThrownBy(() -> call(Verbs.disni(), "_createEventChannel"))
                .isInstanceOf(IOException.class)
                .hasMessageMatching("rdma_create_event_channel failed: errno=\\d+ \\(.+\\)");
    }

    private static Object call(ClassLoader disni, String method, Object... arguments)
            throws Exception {
        Class<?> type = disni.loadClass(DISPATCHER);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method called =
                Stream.of(type.getDeclaredMethods())
                        .filter(declared -> declared.getName().equals(method))
                        .findFirst()
                        .orElseThrow();
        try {
            return called.invoke(constructor.newInstance(), arguments);
        } catch (InvocationTargetException e) {
            throw (Exception) e.getCause();
        }
    }

    private static List<Path> privateFolders() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("gpujoin-rdma-"))
                    .sorted()
                    .toList();
        }
    }
}
