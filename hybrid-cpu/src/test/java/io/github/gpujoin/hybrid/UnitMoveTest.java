package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class UnitMoveTest {

    private static final int DIMENSION = 0;

    private final MemoryLog log = new MemoryLog(DIMENSION);
    private final Unit unit = new Unit(0, 0, 1, 100);

    private UnitMove spillFromHost() {
        unit.moveTo(Place.HOST, null);
        unit.move();
        return new UnitMove(unit, Place.SPILLED, null);
    }

    @Test
    void shouldFinishOnceAllChunksAreAnswered() {
        UnitMove move = spillFromHost();
        unit.submitted();
        move.step(DIMENSION, log, 1, 1);
        assertThat(move.isLoading()).isFalse();
        assertThat(move.finish()).isFalse();
        unit.answered();
        assertThat(move.finish()).isTrue();
        assertThat(move.finish()).isFalse();
    }

    @Test
    void shouldLeaveTheUnitWhereItIsWhereCancelled() {
        UnitMove move = spillFromHost();
        move.step(DIMENSION, log, 1, 1);
        assertThat(unit.isMoving()).isTrue();
        move.cancel();
        assertThat(unit.isMoving()).isFalse();
        assertThat(unit.place()).isEqualTo(Place.HOST);
        assertThatIllegalStateException()
                .isThrownBy(move::cancel)
                .withMessageContaining("state=DONE, next=DONE");
    }

    @Test
    void shouldBePossibleOnlyToAnotherPlaceThatIsOpen() {
        PlaceEngines noDevice = new PlaceEngines(Place.DEVICE, null);
        assertThat(new UnitMove(unit, Place.DEVICE, noDevice).isPossible()).isFalse();
        assertThat(new UnitMove(unit, Place.SPILLED, null).isPossible()).isFalse();
        assertThat(spillFromHost().isPossible()).isTrue();
    }
}
