package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.List;

/**
 * Off-heap memory that grows by pages, each a quarter of what is there, and never moves what was
 * written. Not thread-safe.
 */
final class HostPages implements AutoCloseable {

    private static final long MIN_PAGE_BYTES = 4 << 10;
    private static final long MAX_PAGE_BYTES = 64 << 20;

    /** What is written in a page. */
    interface ExtentVisitor {
        void visit(long address, long lengthBytes);
    }

    private final List<Region> pages = new ArrayList<>();
    private final List<Long> usedBytes = new ArrayList<>();
    private long lengthBytes;
    private long nextAddress;
    private long roomBytes;

    /** Bytes that {@link #take} gives without a new page. */
    long roomBytes() {
        return roomBytes;
    }

    /** Bytes of all pages. */
    long lengthBytes() {
        return lengthBytes;
    }

    /** Address of so many contiguous bytes of unspecified content. */
    long take(long bytes) {
        if (bytes > roomBytes) {
            addPage(bytes);
        }
        long address = nextAddress;
        nextAddress += bytes;
        roomBytes -= bytes;
        int last = pages.size() - 1;
        usedBytes.set(last, usedBytes.get(last) + bytes);
        return address;
    }

    private void addPage(long minBytes) {
        long grown = Math.min(MAX_PAGE_BYTES, Math.max(MIN_PAGE_BYTES, lengthBytes / 4));
        Region page = Region.allocate(Math.max(minBytes, grown));
        pages.add(page);
        usedBytes.add(0L);
        lengthBytes += page.lengthBytes();
        nextAddress = page.address();
        roomBytes = page.lengthBytes();
    }

    /** What was taken, in order. */
    void forEach(ExtentVisitor visitor) {
        for (int i = 0; i < pages.size(); i++) {
            visitor.visit(pages.get(i).address(), usedBytes.get(i));
        }
    }

    @Override
    public void close() {
        pages.forEach(Region::close);
        pages.clear();
        usedBytes.clear();
        lengthBytes = 0;
        nextAddress = 0;
        roomBytes = 0;
    }
}
