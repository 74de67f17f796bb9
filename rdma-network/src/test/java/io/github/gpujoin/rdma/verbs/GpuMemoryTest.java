package io.github.gpujoin.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What needs no device; that a device refuses it in order is for bin/verify-rdma. */
class GpuMemoryTest {

    @ParameterizedTest
    @CsvSource({"0, 1", "-4096, 1", "4096, 0", "4096, 2147483648"})
    void shouldRefuseMemoryThatCannotBe(long address, long lengthBytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new GpuMemory.PeerMem(address, lengthBytes))
                .withMessageEndingWith("address=" + address + ", lengthBytes=" + lengthBytes);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new GpuMemory.DmaBuf(address, lengthBytes, 3, 0));
    }

    @ParameterizedTest
    @CsvSource({"-1, 0", "3, -1"})
    void shouldRefuseADmaBufThatCannotBe(int fileDescriptor, long offsetBytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new GpuMemory.DmaBuf(4096, 1, fileDescriptor, offsetBytes))
                .withMessageStartingWith("a dma-buf has a descriptor");
    }

    @ParameterizedTest
    @CsvSource({
        "100, 0, ORDERED",
        "200, 0, ORDERED",
        "100, 3, ORDERED",
        "0, 1, HOST_FLUSHES",
        "0, 3, HOST_FLUSHES"
    })
    void shouldLetAKernelPollOnlyWhereWritesAreOrdered(
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
    @Test
    void shouldRefuseToRegisterWithoutAProtectionDomain() throws Exception {
        assumeThat(Verbs.hasNativeLibrary()).as("the jar has natives").isTrue();
        Class<?> regions =
                Verbs.disni().loadClass(Verbs.class.getPackageName() + ".disni.GpuRegions");
        Method register =
                regions.getDeclaredMethod(
                        "register", long.class, GpuMemory.class, RemoteRights.class);
        register.setAccessible(true);
        for (GpuMemory memory :
                new GpuMemory[] {
                    new GpuMemory.PeerMem(4096, 4096), new GpuMemory.DmaBuf(4096, 4096, 0, 0)
                }) {
            assertThatExceptionOfType(InvocationTargetException.class)
                    .isThrownBy(() -> register.invoke(null, 0L, memory, RemoteRights.WRITE))
                    .havingCause()
                    .isInstanceOf(IOException.class)
                    .withMessageContaining("missing=protection domain");
        }
    }
}
