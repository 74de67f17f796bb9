// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import static io.github.gpujoin.core.symmetric.ChangeKind.DELETE;
import static io.github.gpujoin.core.symmetric.ChangeKind.INSERT;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.symmetric.ChangeKind;

/** The kinds of the results of one row, by its own kind. See the contract for the rules. */
final class ChangeKinds {

    static final byte NO_RESULT = -1;

    private static final ChangeKind[] KINDS = ChangeKind.values();

    private final byte[] ofPair = new byte[KINDS.length];
    private final byte[] ofOther = new byte[KINDS.length];
    private final byte[] ifMatched = new byte[KINDS.length];
    private final byte[] ifUnmatched = new byte[KINDS.length];

    /**
     * @param side of the submitted row
     */
    ChangeKinds(BulkJoinKind join, JoinSide side) {
        for (ChangeKind kind : KINDS) {
            int code = kind.code();
            ChangeKind plain = kind.isAddition() ? INSERT : DELETE;
            ChangeKind opposite = kind.isAddition() ? DELETE : INSERT;
            boolean isOuter = join.keepsUnmatched(side);
            boolean keepsPairKind =
                    !isOuter && (!kind.isAddition() || !join.keepsUnmatched(side.other()));
            ofPair[code] = (keepsPairKind ? kind : plain).code();
            ofOther[code] = (join == BulkJoinKind.SEMI ? kind : opposite).code();
            if (join.returnsPairs()) {
                ifMatched[code] = NO_RESULT;
                ifUnmatched[code] = isOuter ? plain.code() : NO_RESULT;
            } else {
                boolean isLeft = side == JoinSide.LEFT;
                ifMatched[code] = isLeft && join == BulkJoinKind.SEMI ? kind.code() : NO_RESULT;
                ifUnmatched[code] = isLeft && join == BulkJoinKind.ANTI ? kind.code() : NO_RESULT;
            }
        }
    }

    /** Returns the kind of a pair. */
    byte ofPair(ChangeKind kind) {
        return ofPair[kind.code()];
    }

    /** Returns the kind of a row of the other side without the submitted one, its only match. */
    byte ofOther(ChangeKind kind) {
        return ofOther[kind.code()];
    }

    /** Returns the kind of the submitted row without another one if it has a match. */
    byte ifMatched(ChangeKind kind) {
        return ifMatched[kind.code()];
    }

    /** Returns the kind of the submitted row without another one if it has no match. */
    byte ifUnmatched(ChangeKind kind) {
        return ifUnmatched[kind.code()];
    }
}
