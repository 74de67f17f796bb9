package io.github.gpujoin.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What needs no device; that a device refuses it in order is for bin/verify-rdma. */
class GpuMemoryTest {

    @ParameterizedTest
    @CsvSource({"0, 1", "-4096, 1", "4096, 0", "4096, 2147483648"})
    void shouldRefuseMemoryThatCannotBe(long address, long lengthBytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new GpuMemory(address, lengthBytes, GpuMemory.Way.DMA_BUF))
                .withMessageEndingWith("address=" + address + ", lengthBytes=" + lengthBytes);
    }

    @ParameterizedTest
    @CsvSource({
        "100, 0, ORDERED",
        "200, 0, ORDERED",
        "100, 3, ORDERED",
        "0, 1, HOST_FLUSHES",
        "0, 3, HOST_FLUSHES"
    })
    void shouldFlushUnlessWritesAreOrdered(
            int ordering, int flushOptions, GpuWriteVisibility expected) throws VerbsException {
        assertThat(GpuWriteVisibility.of(ordering, flushOptions)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 2", "99, 2"})
    void shouldRefuseAGpuWhoseWritesNobodyCanMakeVisible(int ordering, int flushOptions) {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> GpuWriteVisibility.of(ordering, flushOptions))
                .withMessageContaining(
                        "writesOrdering=" + ordering + ", flushWritesOptions=" + flushOptions);
    }

    /** The natives are linked, and refuse what would crash. */
    @ParameterizedTest
    @EnumSource(GpuMemory.Way.class)
    void shouldRefuseToRegisterWithoutAProtectionDomain(GpuMemory.Way way) throws Exception {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> register(0, new GpuMemory(4096, 4096, way)))
                .withMessageContaining("missing=protection domain");
    }

    @Test
    void shouldSayThatADmaBufNeedsTheCudaDriver() throws Exception {
        assumeThat(new File("/usr/lib/x86_64-linux-gnu/libcuda.so.1"))
                .as("a host without a GPU")
                .doesNotExist();
        long protectionDomain = 4096; // is not looked at before the memory is exported
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(
                        () ->
                                register(
                                        protectionDomain,
                                        new GpuMemory(4096, 1, GpuMemory.Way.DMA_BUF)))
                .withMessageStartingWith(
                        "the network card must be able to use the GPU's memory: "
                                + "GpuMemory[address=4096, lengthBytes=1, way=DMA_BUF]")
                .withMessageContaining("cause=libcuda.so.1 (the CUDA driver) failed: errno=2");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> call("flush", new Class<?>[] {long.class}, 4096L))
                .withMessageStartingWith("a GPU shows what a network card wrote once it is flushed")
                .withMessageContaining("cause=libcuda.so.1 (the CUDA driver) failed: errno=2");
    }

    private static void register(long protectionDomain, GpuMemory memory) throws Exception {
        call(
                "register",
                new Class<?>[] {long.class, GpuMemory.class, RemoteRights.class},
                protectionDomain,
                memory,
                RemoteRights.WRITE);
    }

    /** Calls the class that the natives are bound to. */
    private static void call(String name, Class<?>[] types, Object... arguments) throws Exception {
        assumeThat(Verbs.hasNativeLibrary()).as("the jar has natives").isTrue();
        Class<?> regions =
                Verbs.disni().loadClass(Verbs.class.getPackageName() + ".disni.GpuRegions");
        Method method = regions.getDeclaredMethod(name, types);
        method.setAccessible(true);
        try {
            method.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            throw (Exception) e.getCause();
        }
    }
}
