import KymographCore
import Testing

@Suite struct DecimalTests {
    @Test func comparesByValueNotByWrittenZeros() {
        #expect(Decimal64(mantissa: 60).isEqualInValue(to: Decimal64(mantissa: 600, exponent: -1)))
        #expect(Decimal64(mantissa: 60).isLess(than: Decimal64(mantissa: 601, exponent: -1)))
    }
}
