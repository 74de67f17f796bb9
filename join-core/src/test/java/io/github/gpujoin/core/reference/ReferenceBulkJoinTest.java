// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;

class ReferenceBulkJoinTest extends BulkJoinConformance {

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new ReferenceBulkJoin(spec);
    }
}
