// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.SelectedKey;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;

/** Key selectors of both sides of a pair join, and their types. */
record PairKeys<B, P, K>(
        KeySelector<B, K> build,
        TypeInformation<K> buildType,
        KeySelector<P, K> probe,
        TypeInformation<K> probeType) {

    SelectedKey<B, K> ofBuild(Nulls nulls) {
        return SelectedKey.of(build, buildType, nulls)
                .alignedWith(SelectedKey.of(probe, probeType, nulls));
    }

    SelectedKey<P, K> ofProbe(Nulls nulls) {
        return SelectedKey.of(probe, probeType, nulls)
                .alignedWith(SelectedKey.of(build, buildType, nulls));
    }

    /**
     * Checks the types of both keys.
     *
     * @throws IllegalArgumentException if a type does not support keys, or the types cannot be
     *     compared
     */
    void check() {
        KeyLayout<K> ofBuild = KeyLayout.of(buildType, Nulls.MATCH_NOTHING);
        if (!ofBuild.isComparableTo(KeyLayout.of(probeType, Nulls.MATCH_NOTHING))) {
            throw new IllegalArgumentException(
                    "Key types differ: build side %s, probe side %s. Cast one side."
                            .formatted(described(build, buildType), described(probe, probeType)));
        }
    }

    private static String described(Object key, TypeInformation<?> type) {
        return key instanceof ColumnsKey<?> columns ? columns.description() : type.toString();
    }
}
