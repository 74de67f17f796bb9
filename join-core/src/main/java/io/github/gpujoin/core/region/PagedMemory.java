package io.github.gpujoin.core.region;

import java.util.ArrayList;
import java.util.List;

/**
 * Off-heap memory that grows by pages and never moves what was written. A page is a quarter of what
 * is there already, so that little memory lies idle in small and large ones alike. Not thread-safe.
 */
public final class PagedMemory implements AutoCloseable {

    private static final long MIN_PAGE_BYTES = 4 << 10;
    private static final long DEFAULT_MAX_PAGE_BYTES = 4 << 20;

    /** What is written in the pages, in order. */
    public interface ExtentVisitor {
        void visit(long address, long lengthBytes);
    }

    private final List<Region> pages = new ArrayList<>();
    private final List<Long> usedBytes = new ArrayList<>();
    private final Allocator allocator;
    private final long maxPageBytes;
    private long lengthBytes;
    private long nextAddress;
    private long roomBytes;

    /** With pages of up to 4 MiB, as many as the operating system gives. */
    public PagedMemory() {
        this(Allocator.unlimited());
    }

    /** With pages of up to 4 MiB. */
    public PagedMemory(Allocator allocator) {
        this(allocator, DEFAULT_MAX_PAGE_BYTES);
    }

    /**
     * @param maxPageBytes size beyond which pages do not grow, but for a larger single take
     */
    public PagedMemory(Allocator allocator, long maxPageBytes) {
        this.allocator = allocator;
        this.maxPageBytes = maxPageBytes;
    }

    /** Bytes that {@link #take} gives without a new page. */
    public long roomBytes() {
        return roomBytes;
    }

    /** Bytes of all pages. */
    public long lengthBytes() {
        return lengthBytes;
    }

    /** Address of so many contiguous bytes of unspecified content. */
    public long take(long bytes) {
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
        long grown = Math.min(maxPageBytes, Math.max(MIN_PAGE_BYTES, lengthBytes / 4));
        Region page = allocator.allocate(Math.max(minBytes, grown));
        pages.add(page);
        usedBytes.add(0L);
        lengthBytes += page.lengthBytes();
        nextAddress = page.address();
        roomBytes = page.lengthBytes();
    }

    /** Visits what was taken in parts, in order. Nothing may be taken meanwhile. */
    public final class Cursor {

        private final boolean drains;
        private int page;
        private long visitedBytes;

        private Cursor(boolean drains) {
            this.drains = drains;
        }

        /**
         * Visits the next part, which lies in one page.
         *
         * @param maxBytes at least 1; a divisor of what was taken at once divides every part
         * @return whether there is more
         */
        public boolean next(long maxBytes, ExtentVisitor visitor) {
            if (page < pages.size()) {
                long bytes = Math.min(maxBytes, usedBytes.get(page) - visitedBytes);
                visitor.visit(pages.get(page).address() + visitedBytes, bytes);
                visitedBytes += bytes;
                if (visitedBytes == usedBytes.get(page)) {
                    leavePage();
                }
            }
            return page < pages.size();
        }

        private void leavePage() {
            if (drains) {
                pages.get(page).close();
            }
            page++;
            visitedBytes = 0;
            if (drains && page == pages.size()) {
                close();
                page = 0;
            }
        }
    }

    /** A cursor at the start. */
    public Cursor cursor() {
        return new Cursor(false);
    }

    /** A cursor at the start that frees each page behind it. */
    public Cursor drainingCursor() {
        return new Cursor(true);
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
