// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Region;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails each test that leaves a {@link Region} of native memory open. Regions that were open before
 * the test, such as those of a device that a test class shares, do not count. JUnit calls the
 * extension before the {@code @BeforeEach} methods of the test class, and after its
 * {@code @AfterEach} methods, which may therefore close what the test opened. Regions are counted
 * for the whole process: a test class that uses the extension does not run beside another one.
 */
public final class RegionLeakExtension implements BeforeEachCallback, AfterEachCallback {

    private static final Namespace NAMESPACE = Namespace.create(RegionLeakExtension.class);

    private record Open(long regions, long bytes) {

        static Open now() {
            return new Open(Region.openCount(), Region.openBytes());
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        storeOpen(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        assertNoLeak(context);
    }

    private static void storeOpen(ExtensionContext context) {
        context.getStore(NAMESPACE).put(Open.class, Open.now());
    }

    private static void assertNoLeak(ExtensionContext context) {
        assertThat(Open.now())
                .as("open regions")
                .isEqualTo(context.getStore(NAMESPACE).get(Open.class, Open.class));
    }

    /**
     * Fails a test class that leaves a {@link Region} open, for classes whose tests share one.
     * JUnit calls it before the {@code @BeforeAll} methods of the class, and after its
     * {@code @AfterAll} methods.
     */
    public static final class PerClass implements BeforeAllCallback, AfterAllCallback {

        @Override
        public void beforeAll(ExtensionContext context) {
            storeOpen(context);
        }

        @Override
        public void afterAll(ExtensionContext context) {
            assertNoLeak(context);
        }
    }
}
