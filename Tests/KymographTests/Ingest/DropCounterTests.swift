import Testing

@testable import Kymograph

@Suite struct DropCounterTests {
    @Test func addsWhatIsNew() {
        var counter = DropCounter()
        #expect(counter.observe(5) == 5)
        #expect(counter.observe(5) == 0)
        #expect(counter.observe(3) == 0, "an older reading adds nothing")
        #expect(counter.observe(9) == 4)
        #expect(counter.total == 9)
    }

    @Test func goesOnWhenTheKernelsCountWraps() {
        var counter = DropCounter()
        for count in [0x7000_0000, 0xE000_0000, 0xFFFF_FFFF, 1, 0xFFFF_FFFE, 3] as [UInt32] {
            _ = counter.observe(count)
        }
        #expect(counter.total == 0x1_0000_0003)
    }
}
