package io.github.gpujoin.core.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class MemoryAccountTest {

    private final MemoryAccount account = new MemoryAccount("test");

    @Test
    void shouldRefuseWhatWouldBringTheTotalOverTheLimit() {
        Allocator small = account.within(100);
        Allocator large = account.within(1_000);
        try (Region first = small.allocate(60)) {
            assertThatExceptionOfType(MemoryRefusedException.class)
                    .isThrownBy(() -> small.allocate(41))
                    .withMessageContaining("test memory budget")
                    .withMessageContaining("budgetBytes=100, usedBytes=60, lengthBytes=41");
            try (Region second = large.allocate(500)) {
                assertThat(account.usedBytes())
                        .isEqualTo(first.lengthBytes() + second.lengthBytes());
                assertThat(small.availableBytes()).isZero();
                assertThat(large.availableBytes()).isEqualTo(440);
            }
        }
        assertThat(account.usedBytes()).isZero();
        assertThat(account.peakBytes()).isEqualTo(560);
    }

    @Test
    void shouldCountARegionOutOnceThoughItIsClosedTwice() {
        Region region = account.within(100).allocate(10);
        region.close();
        region.close();
        assertThat(account.usedBytes()).isZero();
    }

    @Test
    void shouldRefuseWhatTheMachineHasNot() {
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(() -> account.within(Long.MAX_VALUE).allocate(1L << 62))
                .withCauseInstanceOf(OutOfMemoryError.class);
        assertThat(account.usedBytes()).isZero();
    }

    @Test
    void shouldRefuseALimitThatIsNegative() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> account.within(-1))
                .withMessage("a memory limit is not negative: limitBytes=-1");
    }
}
