package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.cpu.CpuJoinEngine;

/** CPU engines of a place with room for the small tables of one unit or partition at a time. */
final class RoomForOne implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;
    private static final long TABLE_BYTES = 24 << 10;

    @Override
    public String engineName() {
        return "cpu";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        long limit = emptyEnginesBytes(spec) + TABLE_BYTES;
        return new CpuJoinEngine(spec, new MemoryAccount("test").within(limit));
    }

    /** What the shared engine and another one take without rows. */
    private static long emptyEnginesBytes(JoinSpec spec) {
        MemoryAccount account = new MemoryAccount("test");
        try (CpuJoinEngine shared = new CpuJoinEngine(spec, account.within(Long.MAX_VALUE))) {
            shared.finishBuild();
            try (CpuJoinEngine unit = shared.forkLoading(0)) {
                unit.finishBuild();
            }
        }
        return account.peakBytes();
    }
}
