// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Creates {@link ReferenceBulkJoin}s, which use neither native memory nor files. */
public final class ReferenceBulkJoinFactory implements BulkJoinFactory {

    private static final long serialVersionUID = 1L;

    @Override
    public String joinName() {
        return "reference";
    }

    @Override
    public BulkJoin create(
            BulkJoinSpec spec, MemoryReservations hostMemory, @Nullable Path spillDirectory) {
        return new ReferenceBulkJoin(spec);
    }
}
