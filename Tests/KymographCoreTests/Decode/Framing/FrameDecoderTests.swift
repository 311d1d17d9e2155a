@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@Suite struct FrameDecoderTests {
    /// A payload that the framing can carry.
    private func payload(_ framing: Framing, most: Int, _ random: inout SeededGenerator) -> [UInt8] {
        if case .fixed(let count) = framing.borders { return bytes(count, &random) }
        let one = Framing.Borders.length(LengthField(.fixed(width: 1, isBigEndian: false)))
        let content = bytes(
            Int.random(in: 1...(framing.borders == one ? min(most, 255) : most), using: &random), &random)
        guard case .delimiter(let delimiter) = framing.borders else { return content }
        return content.filter { !delimiter.contains($0) } + [0x7A]
    }

    private func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let special: [UInt8] = [0, 0xC0, 0xDB, 0xDC, 0xDD, 0xFF, 0x0A, 0x0D, 0x61]
        return (0..<count).map { _ in
            Int.random(in: 0..<3, using: &random) == 0
                ? special[Int.random(in: 0..<special.count, using: &random)] : UInt8.random(in: 0...255, using: &random)
        }
    }

    private func cuts(_ count: Int, _ random: inout SeededGenerator) -> [Int] {
        (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...count, using: &random) }.sorted()
    }

    @Test(arguments: Framing.oneOfEach)
    func whatIsSentArrivesWhateverThePieces(framing: Framing) {
        for seed in Trials.seeds(60) {
            var random = SeededGenerator(seed: seed)
            let payloads = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                self.payload(framing, most: 600, &random)
            }
            let stream = payloads.flatMap { FrameEncoder.encode($0, framing) }
            let expected = payloads.map { FrameEncoder.head($0, framing) + $0 }
            for _ in 0..<4 {
                let found = FrameTranscript(framing, cap: 620, stream, cuts: cuts(stream.count, &random))
                #expect(found.frames == expected && found.reasons.isEmpty, "\(framing), seed \(seed): \(found)")
            }
        }
    }

    @Test(arguments: Framing.oneOfEach)
    func everySplitGivesTheSame(framing: Framing) {
        var random = SeededGenerator(seed: Trials.seed(7))
        let good = (0..<3).flatMap { _ in
            FrameEncoder.encode(payload(framing, most: 12, &random), framing)
        }
        let stream = good + bytes(30, &random) + good + [1]
        let whole = FrameTranscript(framing, cap: 13, stream)
        for first in 0...stream.count {
            for second in stride(from: first, through: stream.count, by: 9) {
                let found = FrameTranscript(framing, cap: 13, stream, cuts: [first, second])
                #expect(found == whole, "\(framing), cut at \(first) and \(second)")
            }
        }
        #expect(FrameTranscript(framing, cap: 13, stream, cuts: Array(1..<stream.count)) == whole)
    }

    /// A million random bytes give payloads within the cap, in any pieces, and the next good frame is found where the
    /// framing promises it.
    @Test(arguments: Framing.oneOfEach)
    func noiseIsSurvived(framing: Framing) {
        var random = SeededGenerator(seed: Trials.seed(11))
        let good = payload(framing, most: 20, &random)
        for round in 0..<10 {
            let noise = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            let border = framing.canResynchronise ? FrameEncoder.border(framing) : []
            let stream = noise + border + FrameEncoder.encode(good, framing)
            let found = FrameTranscript(framing, cap: 40, stream, cuts: cuts(stream.count, &random))
            #expect(!found.entries.isEmpty)
            #expect(found.frames.allSatisfy { $0.count <= 40 && !$0.isEmpty }, "round \(round)")
            #expect(found.mostWaiting <= 2 * (40 + framing.check.width) + 8, "\(framing), round \(round)")
            if framing.canResynchronise { #expect(found.frames.last == good, "\(framing), round \(round)") }
        }
    }

    @Test(arguments: Framing.oneOfEach.filter(\.canResynchronise))
    func whatIsTooLongIsRejectedOnce(framing: Framing) {
        let long = Array(repeating: UInt8(0x78), count: 5_000)
        let good = Array("good".utf8)
        let stream = [good, long, good].flatMap { FrameEncoder.encode($0, framing) }
        for cuts in [[], [2_000], [30, 3_000], Array(1..<stream.count)] {
            let found = FrameTranscript(framing, cap: 16, stream, cuts: cuts)
            #expect(found.frames == [good, good] && found.reasons == [.frameTooLong], "\(framing) \(cuts.count)")
        }
    }

    @Test func aWrongLengthBreaksTheStream() {
        let wide = Framing(.length(LengthField(.fixed(width: 4, isBigEndian: false))))
        let far = [3, 0, 0, 0, 1, 2, 3, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 9] as [UInt8]
        for cut in 0...far.count {
            let found = FrameTranscript(wide, cap: 1 << 20, far, cuts: [cut])
            #expect(found.entries == [.frame([1, 2, 3]), .broken(.frameTooLong)])
        }
        let counted = Framing(.length(LengthField(.fixed(width: 1, isBigEndian: false), adjustment: -2)))
        #expect(FrameTranscript(counted, cap: 9, [3, 7, 1, 9]).entries == [.frame([7]), .broken(.frameMalformed)])
        let endless = Framing(.length(LengthField(.varint)))
        #expect(FrameTranscript(endless, cap: 9, [0x80, 0x80, 0x80, 0x80, 0x80, 1]).reasons == [.frameMalformed])
        #expect(FrameTranscript(endless, cap: 9, [0x81, 0x00, 5]).frames == [[5]])
    }

    @Test func aChecksumThatIsWrongCostsOneFrame() {
        for framing in Framing.oneOfEach where framing.check != .none {
            let payloads = (0..<3).map { Array("pa\($0)ld".utf8) }
            var frames = payloads.map { FrameEncoder.encode($0, framing) }
            let place = frames[1].lastIndex(of: 0x6C) ?? 0
            frames[1][place] = 0x6D
            let found = FrameTranscript(framing, cap: 16, Array(frames.joined()))
            #expect(found.reasons == [.frameChecksum] && found.frames == [payloads[0], payloads[2]], "\(framing)")
        }
    }

    @Test func theEndOfAStreamCostsWhatIsIncomplete() {
        let cut: [UInt8] = [4, 1, 2]
        #expect(FrameTranscript(Framing(.cobs), cap: 9, cut).entries == [.rejected(.frameIncomplete, cut)])
        #expect(FrameTranscript(Framing(.slip), cap: 9, cut).entries == [.rejected(.frameIncomplete, cut)])
        #expect(FrameTranscript(Framing(.fixed(4)), cap: 9, cut).entries == [.rejected(.frameIncomplete, cut)])
        #expect(FrameTranscript(Framing(.delimiter([0])), cap: 9, cut).entries == [.frame(cut)])
        let length = Framing(.length(LengthField(.fixed(width: 1, isBigEndian: false))))
        #expect(FrameTranscript(length, cap: 9, cut).entries == [.rejected(.frameIncomplete, cut)])
    }

    @Test func violationsOfSLIPAreRejected() {
        let stream: [UInt8] = [0xC0, 1, 0xDB, 2, 0xC0, 0xC0, 3, 0xDB, 0xC0, 4, 0xDB, 0xDC, 0xC0]
        let found = FrameTranscript(Framing(.slip), cap: 9, stream)
        #expect(
            found.entries == [
                .rejected(.frameMalformed, [1, 0xDB, 2]), .rejected(.frameMalformed, [3, 0xDB]), .frame([4, 0xC0]),
            ])
    }

    /// Vectors of Cheshire and Baker's paper, and the borders of full blocks.
    @Test func decodesCOBSAsItIsDefined() {
        let full = (1...254).map { UInt8($0) }
        let vectors: [(plain: [UInt8], stuffed: [UInt8])] = [
            ([0], [1, 1]), ([0, 0], [1, 1, 1]), ([0x11, 0x22, 0, 0x33], [3, 0x11, 0x22, 2, 0x33]),
            ([0x11, 0x22, 0x33, 0x44], [5, 0x11, 0x22, 0x33, 0x44]), ([0x11, 0, 0, 0], [2, 0x11, 1, 1, 1]),
            (full, [0xFF] + full), ([0] + full, [1, 0xFF] + full), (full + [0xFF], [0xFF] + full + [2, 0xFF]),
        ]
        for (plain, stuffed) in vectors {
            #expect(FrameTranscript(Framing(.cobs), cap: 300, stuffed + [0]).frames == [plain])
            #expect(FrameEncoder.cobs(plain) == stuffed)
        }
        let nothing = FrameTranscript(Framing(.cobs), cap: 300, [1, 0, 0, 0])
        #expect(nothing.entries.isEmpty)
        let beyond = FrameTranscript(Framing(.cobs), cap: 300, [5, 1, 2, 0, 2, 7, 0])
        #expect(beyond.entries == [.rejected(.frameMalformed, [5, 1, 2]), .frame([7])])
    }

    static let checkValues: [(FrameCheck, UInt32)] = [
        (.crc16ccitt, 0x29B1), (.crc16xmodem, 0x31C3), (.crc16kermit, 0x2189), (.crc16mcrf4xx, 0x6F91),
        (.crc16x25, 0x906E), (.crc16modbus, 0x4B37), (.crc32, 0xCBF4_3926), (.crc32c, 0xE306_9283),
    ]

    /// The check values of the catalogue of CRC algorithms.
    @Test(arguments: FrameDecoderTests.checkValues)
    func checksumsAreThoseOfTheCatalogue(check: FrameCheck, value: UInt32) {
        let sum = FrameChecksum(check)
        #expect(sum.value(of: ByteView("123456789")) == value)
        let bytes = Array("123456789".utf8)
        let low = FrameEncoder.checksum(bytes, Framing(.cobs, check: check))
        #expect(low.reversed().reduce(0) { $0 << 8 | UInt32($1) } == value)
    }

    @Test func theCheckOfBluetoothIsThere() {
        let sum = FrameChecksum(.crc16mcrf4xx)
        #expect(([0x08, 0x00, 0x0C, 0x10, 0x06, 0x00] as [UInt8]).withByteView { sum.value(of: $0) } == 0x6F59)
    }
}
