// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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

/** Checks without a device. bin/verify-rdma checks that a device rejects the memory properly. */
class GpuMemoryTest {

    @ParameterizedTest
    @CsvSource({"0, 1", "-4096, 1", "4096, 0", "4096, 2147483648"})
    void shouldRejectInvalidMemory(long address, long lengthBytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                new GpuMemory(
                                        address, lengthBytes, GpuMemory.RegistrationMethod.DMA_BUF))
                .withMessageContaining("address=" + address + ", lengthBytes=" + lengthBytes);
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
    void shouldRejectAGpuThatCannotMakeWritesVisible(int ordering, int flushOptions) {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> GpuWriteVisibility.of(ordering, flushOptions))
                .withMessageContaining(
                        "writesOrdering=" + ordering + ", flushWritesOptions=" + flushOptions);
    }

    /** The native methods are linked and reject arguments that would crash. */
    @ParameterizedTest
    @EnumSource(GpuMemory.RegistrationMethod.class)
    void shouldRejectARegistrationWithoutAProtectionDomain(GpuMemory.RegistrationMethod method)
            throws Exception {
        assumeNativeLibrary();
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> register(0, new GpuMemory(4096, 4096, method)))
                .withMessageContaining("missing=protection domain");
    }

    @Test
    void shouldReportAMissingCudaDriver() throws Exception {
        assumeNativeLibrary();
        assumeThat(new File("/usr/lib/x86_64-linux-gnu/libcuda.so.1"))
                .as("a host without a GPU")
                .doesNotExist();
        long protectionDomain = 4096; // not accessed before the memory is exported
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(
                        () ->
                                register(
                                        protectionDomain,
                                        new GpuMemory(
                                                4096, 1, GpuMemory.RegistrationMethod.DMA_BUF)))
                .withMessageStartingWith(
                        "Network adapter cannot use GPU memory: "
                                + "GpuMemory[address=4096, lengthBytes=1, method=DMA_BUF]")
                .withMessageContaining("cause=libcuda.so.1 (the CUDA driver) failed: errno=2");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> call("flush", new Class<?>[] {long.class}, 4096L))
                .withMessageStartingWith("GPU did not flush writes of a network adapter")
                .withMessageContaining("cause=libcuda.so.1 (the CUDA driver) failed: errno=2");
    }

    private static void register(long protectionDomain, GpuMemory memory) throws Exception {
        call(
                "register",
                new Class<?>[] {long.class, GpuMemory.class, RemoteAccess.class},
                protectionDomain,
                memory,
                RemoteAccess.WRITE);
    }

    /** Outside of assertions of exceptions, which would find the assumption's own. */
    private static void assumeNativeLibrary() {
        assumeThat(Verbs.hasNativeLibrary()).as("the jar has native libraries").isTrue();
    }

    /** Calls the class to which the native methods are bound. */
    private static void call(String name, Class<?>[] types, Object... arguments) throws Exception {
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
