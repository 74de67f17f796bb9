// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.opentest4j.TestAbortedException;

/**
 * The kernels of {@code engine.cu}, compiled for the CPU and loaded once in a process. A library of
 * native methods belongs to one class loader, so a loader that defines {@link HostDevice} again
 * must delegate this class to its parent.
 */
public final class HostKernels {

    private static final String SOURCE = "src/test/cuda/host_device.cpp";

    /** Devices that may be open at once. */
    static final int DEVICES = 4;

    /**
     * Held by whoever has devices open while other threads may want some, because {@link
     * #haveEnded} tells devices apart by their numbers.
     */
    public static final ReentrantLock IN_USE = new ReentrantLock();

    private static boolean isLoaded;
    private static TestAbortedException unavailable;

    private HostKernels() {}

    /**
     * Compiles and loads the kernels on the first call.
     *
     * @throws TestAbortedException without a C++ compiler, C headers of the JDK, or the source
     */
    public static synchronized void load() throws Exception {
        if (unavailable != null) {
            throw unavailable;
        }
        if (!isLoaded) {
            try {
                System.load(HostProgram.compileLibrary(source()).toString());
            } catch (TestAbortedException e) {
                unavailable = e;
                throw e;
            }
            isLoaded = true;
        }
    }

    /** Returns why {@link #load} was impossible, or null if it succeeded or was not called. */
    public static synchronized String whyUnavailable() {
        return unavailable == null ? null : unavailable.getMessage();
    }

    /** The source, seen from the folder of this module, of another one or of the project. */
    private static Path source() {
        return List.of(Path.of(SOURCE), Path.of("../kernels", SOURCE), Path.of("kernels", SOURCE))
                .stream()
                .filter(Files::exists)
                .findFirst()
                .orElseGet(() -> abort("this test needs the source of the kernels: " + SOURCE));
    }

    /**
     * Runs a kernel to its end, the serving kernel asynchronously. Returns false for an unknown
     * name.
     *
     * @param device number below {@link #DEVICES}
     */
    public static native boolean launch(
            int device, String kernel, int blocks, int threads, long[] arguments);

    /** Whether no serving kernel runs on a device. */
    public static native boolean haveEnded(int device);
}
