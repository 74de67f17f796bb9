// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import java.util.ArrayList;
import java.util.List;

/**
 * Off-heap memory that grows by pages and never moves its content. A new page has a quarter of the
 * present length, so that the unused share stays small at any size. Not thread-safe.
 */
public final class PagedMemory implements AutoCloseable {

    private static final long MIN_PAGE_BYTES = 4 << 10;
    private static final long DEFAULT_MAX_PAGE_BYTES = 4 << 20;

    /** Receives the used parts of the pages, in order. */
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

    /** Creates memory with pages of up to 4 MiB, limited by the operating system only. */
    public PagedMemory() {
        this(Allocator.unlimited());
    }

    /** Creates memory with pages of up to 4 MiB. */
    public PagedMemory(Allocator allocator) {
        this(allocator, DEFAULT_MAX_PAGE_BYTES);
    }

    /**
     * @param maxPageBytes maximum size of a page, unless a single call of {@link #allocate} needs
     *     more
     */
    public PagedMemory(Allocator allocator, long maxPageBytes) {
        this.allocator = allocator;
        this.maxPageBytes = maxPageBytes;
    }

    /** Returns the bytes that {@link #allocate} can return without a new page. */
    public long roomBytes() {
        return roomBytes;
    }

    /** Returns the bytes of all pages. */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * Returns the address of {@code bytes} contiguous bytes of unspecified content.
     *
     * @throws MemoryRefusedException if a new page is needed and refused
     */
    public long allocate(long bytes) {
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

    /** Visits the allocated bytes in parts, in order. Nothing may be allocated meanwhile. */
    public final class Cursor {

        private final boolean drains;
        private int page;
        private long visitedBytes;

        private Cursor(boolean drains) {
            this.drains = drains;
        }

        /**
         * Visits the next part, which is inside one page.
         *
         * @param maxBytes at least 1. If n divides it and all allocated lengths, n divides every
         *     part.
         * @return whether there are more parts
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

    /** Returns a cursor at the start. */
    public Cursor cursor() {
        return new Cursor(false);
    }

    /** Returns a cursor at the start that frees each page behind it. */
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
