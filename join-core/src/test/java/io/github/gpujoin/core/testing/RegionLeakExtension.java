// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Region;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails each test that leaves a {@link Region} of native memory open. JUnit calls the extension
 * after the {@code @AfterEach} methods of the test class, which may therefore close what the test
 * opened. Regions are counted for the whole process: a test class that uses the extension does not
 * run beside another one.
 */
public final class RegionLeakExtension implements AfterEachCallback {

    @Override
    public void afterEach(ExtensionContext context) {
        assertThat(Region.openCount()).as("open regions").isZero();
        assertThat(Region.openBytes()).as("bytes of open regions").isZero();
    }
}
