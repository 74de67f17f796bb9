package io.github.gpujoin.rdma.transport.shm;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.Access;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Writes between processes of one host: the target is a file in memory that both map.
 *
 * <p>Its file ({@link SharedFile}) can be opened by its owner alone, and goes away as soon as the
 * writer has mapped it, or is swept up by the next process if its own was killed before that.
 * Revoking a key cannot take a mapping back from another process; it is enough that no later epoch
 * uses the same memory.
 */
public final class ShmTransport implements Transport {

    public static final Path DEFAULT_DIRECTORY = Path.of("/dev/shm");

    private static final long MAX_REGISTERED_BYTES = 1L << 30;

    private final Path directory;
    private final Deque<RegisteredMemory> open = new ArrayDeque<>();

    /**
     * @param directory on a file system in memory
     */
    public ShmTransport(Path directory) throws TransportException {
        if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
            throw new TransportException(
                    "shm needs a directory in memory that it may write: directory=" + directory);
        }
        this.directory = directory;
        SharedFile.sweep(directory);
    }

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public synchronized RegisteredMemory register(long lengthBytes, Access access)
            throws TransportException {
        if (lengthBytes < 1 || lengthBytes > MAX_REGISTERED_BYTES) {
            throw new IllegalArgumentException(
                    "registered memory has 1 byte to 1 GiB: lengthBytes=" + lengthBytes);
        }
        RegisteredMemory memory =
                access == Access.TARGET
                        ? new Target(SharedFile.create(directory, lengthBytes))
                        : new Source(Region.allocateZeroed(lengthBytes));
        open.push(memory);
        return memory;
    }

    @Override
    public Connection connect(byte[] descriptor, RegisteredMemory source)
            throws TransportException {
        return new ShmConnection(SharedFile.open(directory, descriptor), source);
    }

    @Override
    public synchronized void close() {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    private synchronized void forget(RegisteredMemory memory) {
        open.remove(memory);
    }

    private final class Source implements RegisteredMemory {

        private final Region region;

        Source(Region region) {
            this.region = region;
        }

        @Override
        public long address() {
            return region.address();
        }

        @Override
        public long lengthBytes() {
            return region.lengthBytes();
        }

        @Override
        public byte[] descriptor() {
            return new byte[0];
        }

        @Override
        public void close() {
            region.close();
            forget(this);
        }
    }

    private final class Target implements RegisteredMemory {

        private final SharedFile file;

        Target(SharedFile file) {
            this.file = file;
        }

        @Override
        public long address() {
            return file.region().address();
        }

        @Override
        public long lengthBytes() {
            return file.region().lengthBytes();
        }

        @Override
        public byte[] descriptor() {
            return file.descriptor();
        }

        @Override
        public void close() {
            file.close();
            forget(this);
        }
    }

    private static final class ShmConnection implements Connection {

        private final Region target;
        private final RegisteredMemory source;
        private boolean closed;

        ShmConnection(Region target, RegisteredMemory source) {
            this.target = target;
            this.source = source;
        }

        @Override
        public boolean write(long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
                throws TransportException {
            poll();
            checkExtent(sourceOffsetBytes, lengthBytes, source.lengthBytes());
            checkExtent(targetOffsetBytes, lengthBytes, target.lengthBytes());
            long from = source.address() + sourceOffsetBytes;
            long to = target.address() + targetOffsetBytes;
            if (lengthBytes == Long.BYTES && to % Long.BYTES == 0) {
                // release: whoever sees the word sees all writes before it, flushed or not
                Memory.putLongRelease(null, to, Memory.getLong(from));
            } else {
                Memory.copy(null, from, null, to, lengthBytes);
            }
            return true;
        }

        private static void checkExtent(long offset, int lengthBytes, long boundBytes) {
            if (offset < 0 || lengthBytes < 0 || offset > boundBytes - lengthBytes) {
                throw new IllegalArgumentException(
                        "a write stays in its memory: offset="
                                + offset
                                + ", lengthBytes="
                                + lengthBytes
                                + ", memoryBytes="
                                + boundBytes);
            }
        }

        /** Words are stored with release order, which is order enough. */
        @Override
        public void flush() throws TransportException {
            poll();
        }

        /** There is nothing under way: a peer's death shows on the control connection. */
        @Override
        public void poll() throws TransportException {
            if (closed) {
                throw new TransportException("the connection is closed");
            }
        }

        @Override
        public void close() {
            closed = true;
            target.close();
        }
    }
}
