// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.runtime.externalresource.ExternalResourceInfoProvider;
import org.apache.flink.runtime.externalresource.StaticExternalResourceInfoProvider;

/** Devices of a TaskManager as Flink's GPU plugin describes them. */
public final class TestGpus {

    private TestGpus() {}

    private record Device(String name, String value) implements ExternalResourceInfo {
        @Override
        public Optional<String> getProperty(String key) {
            return key.equals(name) ? Optional.of(value) : Optional.empty();
        }

        @Override
        public Collection<String> getKeys() {
            return List.of(name);
        }
    }

    public static ExternalResourceInfoProvider numbered(String... numbers) {
        return with("index", numbers);
    }

    /** Devices with one property each. */
    static ExternalResourceInfoProvider with(String property, String... values) {
        Set<ExternalResourceInfo> devices =
                Arrays.stream(values)
                        .map(value -> new Device(property, value))
                        .collect(Collectors.toSet());
        return new StaticExternalResourceInfoProvider(Map.of("gpu", devices));
    }
}
