// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CudaDriversTest {

    private static boolean hasDevice() {
        try {
            CudaDrivers.open(0).close();
            return true;
        } catch (GpuUnavailableException e) {
            return false;
        }
    }

    @Test
    void shouldReportInOneSentenceWhyThereIsNoGpu() {
        assumeFalse(hasDevice(), "this machine has a GPU");
        GpuFailure expected =
                CudaDrivers.hasKernelImage() ? GpuFailure.NO_DRIVER : GpuFailure.NO_KERNEL_IMAGE;
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> CudaDrivers.open(0))
                .satisfies(e -> assertThat(e.failure()).isIn(expected, GpuFailure.NO_DEVICE))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n").contains("="));
    }

    @Test
    void shouldReportAMissingDeviceNumber() {
        assumeTrue(hasDevice(), "this test needs a GPU");
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> CudaDrivers.open(1000))
                .satisfies(e -> assertThat(e.failure()).isEqualTo(GpuFailure.NO_DEVICE));
    }

    @Test
    void shouldLoadEveryKernelOfTheSource() throws IOException {
        String source = Files.readString(Path.of("src/main/cuda/engine/engine.cu"));
        assertThat(Pattern.compile("\\bgpujoin_\\w+(?=\\()").matcher(source).results())
                .extracting(MatchResult::group)
                .containsExactlyInAnyOrderElementsOf(KernelImage.ENGINE.kernels());
    }

    @Test
    void shouldLoadAPrivateLibraryInEachClassLoaderAndDeleteTheFile() throws Exception {
        BindingClassLoader first = loader();
        BindingClassLoader second = loader();
        String name = "JCudaDriver-12.6.0-linux-x86_64";
        Path firstCopy = Path.of(first.findLibrary(name));
        Path secondCopy = Path.of(second.findLibrary(name));
        assertThat(firstCopy).isNotEqualTo(secondCopy).hasSameBinaryContentAs(secondCopy);
        Class<?> pointer = first.loadClass("jcuda.Pointer");
        assertThat(pointer).isNotSameAs(second.loadClass("jcuda.Pointer"));
        assertThat(pointer).isSameAs(first.loadClass("jcuda.Pointer"));
        assertThat(first.loadClass(CudaDriver.class.getName())).isSameAs(CudaDriver.class);
        assertThat(first.getResource("lib/lib" + name + ".so")).isNull();
        first.deleteCopies();
        second.deleteCopies();
        assertThat(firstCopy.getParent()).doesNotExist();
        assertThat(secondCopy.getParent()).doesNotExist();
    }

    @Test
    void shouldDeleteAllTemporaryFiles() throws IOException {
        long before = temporaryFolders();
        hasDevice();
        assertThat(temporaryFolders()).isEqualTo(before);
    }

    private static long temporaryFolders() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("gpujoin-") || name.startsWith("libJCuda"))
                    .filter(name -> !name.startsWith("gpujoin-rdma-"))
                    .count();
        }
    }

    @Test
    void shouldDriveTheDeviceFromTwoClassLoadersConcurrently() throws Exception {
        assumeTrue(hasDevice(), "this test needs a GPU");
        for (int i = 0; i < 2; i++) {
            BindingClassLoader loader = loader();
            Class.forName("jcuda.driver.JCudaDriver", true, loader);
            loader.deleteCopies();
            assertThat(loader.loadClass("jcuda.driver.JCudaDriver").getClassLoader())
                    .isSameAs(loader);
        }
    }

    private static BindingClassLoader loader() {
        return new BindingClassLoader(CudaDriversTest.class.getClassLoader());
    }
}
