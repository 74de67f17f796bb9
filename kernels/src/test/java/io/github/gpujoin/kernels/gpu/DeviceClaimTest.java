// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeviceClaimTest {

    private static final DevicePart DEVICE = new DevicePart(4711, 0);

    private static void assertRefused(GpuFailure expected) {
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> DeviceClaim.acquire(DEVICE))
                .withMessageContaining("device=4711")
                .satisfies(e -> assertThat(e.failure()).isEqualTo(expected));
    }

    @Test
    void shouldClaimADeviceForOneOwnerAtATime() {
        DeviceClaim claim = DeviceClaim.acquire(DEVICE);
        assertRefused(GpuFailure.DEVICE_TAKEN);
        claim.release();
        DeviceClaim.acquire(DEVICE).release();
    }

    @Test
    void shouldNotReleaseALostDevice() {
        DeviceClaim claim = DeviceClaim.acquire(DEVICE);
        claim.keepAsLost();
        assertRefused(GpuFailure.DEVICE_LOST);
        claim.release();
    }

    /** Opens and closes a device in the class loader that loaded this class. */
    public static final class Holder {

        private static DeviceLease lease;

        private Holder() {}

        /** Returns the failure, or an empty text. */
        public static String open() {
            try {
                lease = DeviceLease.acquire(GpuOptions.defaults());
                return "";
            } catch (GpuUnavailableException e) {
                return e.failure().name();
            }
        }

        /** After a successful open. */
        public static void close() {
            lease.release();
        }
    }

    /** As Flink gives each job a class loader of its own. */
    private static Class<?> loadedAnew() throws Exception {
        List<URL> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            path.add(new File(entry).toURI().toURL());
        }
        URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        return loader.loadClass(Holder.class.getName());
    }

    private static Object call(Class<?> holder, String method) throws Exception {
        return holder.getMethod(method).invoke(null);
    }

    @NeedsGpu
    @Test
    void shouldServeJobsOfDifferentClassLoadersInTurn() throws Exception {
        Class<?> first = loadedAnew();
        Class<?> second = loadedAnew();
        assertThat(first).isNotSameAs(second);
        assertThat(call(first, "open")).isEqualTo("");
        assertThat(call(second, "open")).isEqualTo("DEVICE_TAKEN");
        call(first, "close");
        assertThat(call(second, "open")).isEqualTo("");
        call(second, "close");
    }
}
