// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding.jcuda;

import static io.github.gpujoin.kernels.binding.jcuda.CudaCalls.check;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuDirectSupport;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.binding.KernelQueue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** {@link CudaDriver} through JCuda's driver API. */
final class JCudaBinding implements CudaDriver {

    private static final int PINNED_FLAGS =
            JCudaDriver.CU_MEMHOSTALLOC_PORTABLE | JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP;

    private static final int REGISTERED_FLAGS =
            JCudaDriver.CU_MEMHOSTREGISTER_PORTABLE | JCudaDriver.CU_MEMHOSTREGISTER_DEVICEMAP;

    /** Number of devices that have registered a host address. Guarded by itself. */
    private static final Map<Long, Integer> REGISTERED = new HashMap<>();

    private final int ordinal;
    private final CUdevice device = new CUdevice();
    private final CUcontext context = new CUcontext();
    private final Map<KernelImage, CUmodule> modules = new EnumMap<>(KernelImage.class);
    private final CUstream stream = new CUstream();
    private final CUstream copyStream = new CUstream();
    private final CUstream readStream = new CUstream();
    private final CUstream copyToHostStream = new CUstream();
    private final CopyQueue copies = new CopyQueue(copyStream);
    private final CopyQueue copiesToHost = new CopyQueue(copyToHostStream);
    private final Map<String, CUfunction> kernels = new ConcurrentHashMap<>();
    private final Deque<CUstream> openStreams = new ArrayDeque<>();

    /** Memory of {@link #pin}, by address. */
    private final Map<Long, Region> touched = new ConcurrentHashMap<>();

    /** Devices whose memory kernels access, by number. */
    private final Map<Integer, Peer> peers = new HashMap<>();

    /** A device and its primary context, which is retained. */
    private record Peer(CUdevice device, CUcontext context) {}

    private boolean hasContext;

    /** Opens the primary context of the device. */
    JCudaBinding(int ordinal) {
        this.ordinal = ordinal;
        JCudaDriver.setExceptionsEnabled(false);
        check(JCudaDriver.cuInit(0), GpuFailure.NO_DRIVER, "cuInit");
        check(JCudaDriver.cuDeviceGet(device, ordinal), GpuFailure.NO_DEVICE, "cuDeviceGet");
        try {
            check(
                    JCudaDriver.cuDevicePrimaryCtxRetain(context, device),
                    GpuFailure.NO_DEVICE,
                    "cuDevicePrimaryCtxRetain");
            hasContext = true;
            enter();
            openStream(stream);
            openStream(copyStream);
            openStream(readStream);
            openStream(copyToHostStream);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** Called by name. */
    public static int deviceCount() {
        JCudaDriver.setExceptionsEnabled(false);
        check(JCudaDriver.cuInit(0), GpuFailure.NO_DRIVER, "cuInit");
        int[] count = new int[1];
        check(JCudaDriver.cuDeviceGetCount(count), GpuFailure.NO_DEVICE, "cuDeviceGetCount");
        return count[0];
    }

    /** Loads all kernels at once: lazy loading would make a later one wait for the running one. */
    @Override
    public synchronized void load(KernelImage image) {
        if (modules.containsKey(image)) {
            return;
        }
        byte[] bytes = image.bytes();
        enter();
        CUmodule module = new CUmodule();
        check(
                JCudaDriver.cuModuleLoadData(module, bytes),
                GpuFailure.NO_KERNEL_IMAGE,
                "cuModuleLoadData");
        modules.put(image, module);
        image.kernels().forEach(name -> loadKernel(module, name));
    }

    private void loadKernel(CUmodule module, String name) {
        CUfunction function = new CUfunction();
        check(
                JCudaDriver.cuModuleGetFunction(function, module, name),
                GpuFailure.NO_KERNEL_IMAGE,
                "cuModuleGetFunction " + name);
        int[] blocks = new int[1];
        check(
                JCudaDriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, 32, 0),
                GpuFailure.NO_KERNEL_IMAGE,
                "cuOccupancyMaxActiveBlocksPerMultiprocessor " + name);
        kernels.put(name, function);
    }

    private void openStream(CUstream opened) {
        check(
                JCudaDriver.cuStreamCreate(opened, CUstream_flags.CU_STREAM_NON_BLOCKING),
                "cuStreamCreate");
        openStreams.push(opened);
    }

    /** Sets the context of the calling thread. */
    private void enter() {
        check(JCudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    }

    @Override
    public String deviceName() {
        byte[] name = new byte[256];
        check(JCudaDriver.cuDeviceGetName(name, name.length, device), "cuDeviceGetName");
        return new String(name, StandardCharsets.UTF_8).trim();
    }

    @Override
    public int multiprocessors() {
        return attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    }

    @Override
    public int blockSharedBytes() {
        return attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    }

    @Override
    public GpuDirectSupport gpuDirect() {
        return new GpuDirectSupport(
                attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) != 0,
                attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED) != 0,
                attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING),
                attribute(
                        CUdevice_attribute
                                .CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS));
    }

    private int attribute(int attribute) {
        int[] value = new int[1];
        check(
                JCudaDriver.cuDeviceGetAttribute(value, attribute, device),
                "cuDeviceGetAttribute " + CUdevice_attribute.stringFor(attribute));
        return value[0];
    }

    @Override
    public synchronized boolean openPeerAccess(int ordinal) {
        if (ordinal == this.ordinal || peers.containsKey(ordinal)) {
            return true;
        }
        enter();
        CUdevice peer = new CUdevice();
        check(JCudaDriver.cuDeviceGet(peer, ordinal), GpuFailure.NO_DEVICE, "cuDeviceGet");
        int[] canAccess = new int[1];
        check(JCudaDriver.cuDeviceCanAccessPeer(canAccess, device, peer), "cuDeviceCanAccessPeer");
        if (canAccess[0] == 0) {
            return false;
        }
        CUcontext peerContext = new CUcontext();
        check(
                JCudaDriver.cuDevicePrimaryCtxRetain(peerContext, peer),
                "cuDevicePrimaryCtxRetain peer");
        int result = JCudaDriver.cuCtxEnablePeerAccess(peerContext, 0);
        if (result != CUresult.CUDA_SUCCESS
                && result != CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
            JCudaDriver.cuDevicePrimaryCtxRelease(peer);
            if (result == CUresult.CUDA_ERROR_TOO_MANY_PEERS
                    || result == CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) {
                return false;
            }
            check(result, "cuCtxEnablePeerAccess");
        }
        peers.put(ordinal, new Peer(peer, peerContext));
        return true;
    }

    @Override
    public synchronized void closePeerAccess(int ordinal) {
        Peer peer = peers.remove(ordinal);
        if (peer != null) {
            enter();
            int result = JCudaDriver.cuCtxDisablePeerAccess(peer.context());
            JCudaDriver.cuDevicePrimaryCtxRelease(peer.device());
            check(result, "cuCtxDisablePeerAccess");
        }
    }

    @Override
    public long freeBytes() {
        enter();
        long[] free = new long[1];
        long[] total = new long[1];
        check(JCudaDriver.cuMemGetInfo(free, total), "cuMemGetInfo");
        return free[0];
    }

    @Override
    public long allocateDevice(long lengthBytes) {
        enter();
        DeviceAddress address = new DeviceAddress();
        check(
                JCudaDriver.cuMemAlloc(address, Math.max(1, lengthBytes)),
                "cuMemAlloc lengthBytes=" + lengthBytes);
        return address.value();
    }

    @Override
    public void freeDevice(long address) {
        enter();
        check(JCudaDriver.cuMemFree(new DeviceAddress(address)), "cuMemFree");
    }

    @Override
    public long allocatePinned(long lengthBytes) {
        // JCuda wraps the allocation in a ByteBuffer, which is limited to 2 GiB.
        if (lengthBytes > Integer.MAX_VALUE) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Pinned buffer exceeds 2 GiB: lengthBytes=" + lengthBytes);
        }
        enter();
        HostAddress address = new HostAddress();
        check(
                JCudaDriver.cuMemHostAlloc(address, Math.max(1, lengthBytes), PINNED_FLAGS),
                "cuMemHostAlloc lengthBytes=" + lengthBytes);
        return address.value();
    }

    /** Fails also if kernels would need another address than the CPU. */
    @Override
    public void pin(Region region) {
        long address = region.address();
        long lengthBytes = region.lengthBytes();
        enter();
        HostAddress host = new HostAddress(address);
        check(
                JCudaDriver.cuMemHostRegister(host, lengthBytes, REGISTERED_FLAGS),
                GpuFailure.OUT_OF_DEVICE_MEMORY,
                "cuMemHostRegister lengthBytes=" + lengthBytes);
        DeviceAddress device = new DeviceAddress();
        int result = JCudaDriver.cuMemHostGetDevicePointer(device, host, 0);
        if (result != CUresult.CUDA_SUCCESS || device.value() != address) {
            JCudaDriver.cuMemHostUnregister(host);
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Registered memory has no unified address: lengthBytes=" + lengthBytes);
        }
        touched.put(address, region);
    }

    @Override
    public void freePinned(long address) {
        enter();
        Region region = touched.get(address);
        if (region == null) {
            check(JCudaDriver.cuMemFreeHost(new HostAddress(address)), "cuMemFreeHost");
            return;
        }
        check(JCudaDriver.cuMemHostUnregister(new HostAddress(address)), "cuMemHostUnregister");
        touched.remove(address);
        region.close();
    }

    @Override
    public long registerHost(long address, long lengthBytes) {
        enter();
        HostAddress host = new HostAddress(address);
        // The driver pins memory once for all devices.
        synchronized (REGISTERED) {
            if (!REGISTERED.containsKey(address)) {
                check(
                        JCudaDriver.cuMemHostRegister(host, lengthBytes, REGISTERED_FLAGS),
                        "cuMemHostRegister lengthBytes=" + lengthBytes);
            }
            REGISTERED.merge(address, 1, Integer::sum);
            DeviceAddress device = new DeviceAddress();
            try {
                check(
                        JCudaDriver.cuMemHostGetDevicePointer(device, host, 0),
                        "cuMemHostGetDevicePointer");
            } catch (GpuUnavailableException e) {
                unregister(address);
                throw e;
            }
            return device.value();
        }
    }

    @Override
    public void unregisterHost(long address) {
        enter();
        synchronized (REGISTERED) {
            check(unregister(address), "cuMemHostUnregister");
        }
    }

    /** Unpins memory that no other device has registered; returns the driver's result. */
    private static int unregister(long address) {
        if (REGISTERED.get(address) > 1) {
            REGISTERED.merge(address, -1, Integer::sum);
            return CUresult.CUDA_SUCCESS;
        }
        int result = JCudaDriver.cuMemHostUnregister(new HostAddress(address));
        if (result == CUresult.CUDA_SUCCESS) {
            REGISTERED.remove(address);
        }
        return result;
    }

    @Override
    public void copyToDevice(long deviceAddress, long hostAddress, long lengthBytes) {
        enter();
        check(
                JCudaDriver.cuMemcpyHtoDAsync(
                        new DeviceAddress(deviceAddress),
                        new HostAddress(hostAddress),
                        lengthBytes,
                        stream),
                "cuMemcpyHtoDAsync lengthBytes=" + lengthBytes);
        synchronize(stream);
    }

    @Override
    public void copyToHost(long hostAddress, long deviceAddress, long lengthBytes) {
        copyToHost(hostAddress, deviceAddress, lengthBytes, stream);
    }

    @Override
    public void copyToHostBeside(long pinnedAddress, long deviceAddress, long lengthBytes) {
        copyToHost(pinnedAddress, deviceAddress, lengthBytes, readStream);
    }

    private void copyToHost(
            long hostAddress, long deviceAddress, long lengthBytes, CUstream onStream) {
        enter();
        check(
                JCudaDriver.cuMemcpyDtoHAsync(
                        new HostAddress(hostAddress),
                        new DeviceAddress(deviceAddress),
                        lengthBytes,
                        onStream),
                "cuMemcpyDtoHAsync lengthBytes=" + lengthBytes);
        synchronize(onStream);
    }

    @Override
    public long startCopyToDevice(long deviceAddress, long pinnedAddress, long lengthBytes) {
        enter();
        return copies.start(
                "cuMemcpyHtoDAsync lengthBytes=" + lengthBytes,
                onStream ->
                        JCudaDriver.cuMemcpyHtoDAsync(
                                new DeviceAddress(deviceAddress),
                                new HostAddress(pinnedAddress),
                                lengthBytes,
                                onStream));
    }

    @Override
    public boolean hasCopied(long copy) {
        enter();
        return copies.hasCompleted(copy);
    }

    @Override
    public void awaitCopies() {
        enter();
        synchronize(copyStream);
        synchronize(copyToHostStream);
    }

    @Override
    public long startCopyToHost(long pinnedAddress, long deviceAddress, long lengthBytes) {
        enter();
        return copiesToHost.start(
                "cuMemcpyDtoHAsync lengthBytes=" + lengthBytes,
                onStream ->
                        JCudaDriver.cuMemcpyDtoHAsync(
                                new HostAddress(pinnedAddress),
                                new DeviceAddress(deviceAddress),
                                lengthBytes,
                                onStream));
    }

    @Override
    public boolean hasCopiedToHost(long copy) {
        enter();
        return copiesToHost.hasCompleted(copy);
    }

    private void synchronize(CUstream awaited) {
        check(JCudaDriver.cuStreamSynchronize(awaited), "cuStreamSynchronize");
    }

    @Override
    public void fillDevice(long deviceAddress, byte value, long lengthBytes) {
        enter();
        check(
                JCudaDriver.cuMemsetD8Async(
                        new DeviceAddress(deviceAddress), value, lengthBytes, stream),
                "cuMemsetD8Async lengthBytes=" + lengthBytes);
    }

    @Override
    public void launch(String kernel, int blocks, int threads, long... arguments) {
        enter();
        long[][] words = new long[arguments.length][];
        for (int i = 0; i < arguments.length; i++) {
            words[i] = new long[] {arguments[i]};
        }
        JCudaQueue.launch(kernels.get(kernel), kernel, blocks, threads, 0, stream, words);
    }

    @Override
    public void launchWithSharedMemory(
            String kernel, int blocks, int threads, int sharedBytes, long[]... arguments) {
        enter();
        JCudaQueue.launch(
                kernels.get(kernel), kernel, blocks, threads, sharedBytes, stream, arguments);
    }

    @Override
    public KernelQueue openQueue(boolean isUrgent) {
        return new JCudaQueue(context, kernels, isUrgent);
    }

    @Override
    public boolean isIdle() {
        enter();
        int result = JCudaDriver.cuStreamQuery(stream);
        if (result == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        check(result, "cuStreamQuery");
        return true;
    }

    @Override
    public void close() {
        // Errors are ignored: these calls fail on a lost device, and no recovery is possible.
        if (hasContext) {
            JCudaDriver.cuCtxSetCurrent(context);
            copies.close();
            copiesToHost.close();
            openStreams.forEach(JCudaDriver::cuStreamDestroy);
            modules.values().forEach(JCudaDriver::cuModuleUnload);
            peers.values()
                    .forEach(
                            peer -> {
                                JCudaDriver.cuCtxDisablePeerAccess(peer.context());
                                JCudaDriver.cuDevicePrimaryCtxRelease(peer.device());
                            });
            peers.clear();
            JCudaDriver.cuDevicePrimaryCtxRelease(device);
            hasContext = false;
        }
    }
}
