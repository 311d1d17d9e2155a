@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Records on their way to a lane, and places on their way back.
@Suite struct RecordProtocolTests {
    /// However the bytes are cut: each record is handed on once, in order, and the places are those behind the last
    /// record of each partition that was complete.
    @Test(arguments: Trials.seeds(20)) func anyCuts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let cap = 50
        let frames = FrameQueue(longest: cap)
        var (expected, ends): ([String], [Int32: Int64]) = ([], [:])
        for offset in 0..<Int64(40) {
            let partition = Int32.random(in: 0..<3, using: &random)
            let kind = offset == 0 ? 3 : Int.random(in: 0..<8, using: &random)
            let text = String(repeating: "v", count: Int.random(in: 0..<(kind == 1 ? 90 : 40), using: &random))
            let bytes = Array(text.utf8)
            let content: RecordContent = kind == 0 ? .nothing : kind == 2 ? .unfit(bytes) : .payload(bytes)
            frames.append(RecordPosition(partition: partition, offset: offset), content)
            ends[partition] = offset + 1
            switch content {
            case .nothing: break
            case .payload: expected.append(bytes.count > cap ? "frameTooLong: \(text.prefix(cap))" : text)
            case .unfit: expected.append("noEnvelope: \(text)")
            }
        }
        let reader = RecordProtocol()
        let log = GatedConsumer.Log()
        var consumer = GatedConsumer(log: log, notes: NoteList())
        let progress = StreamProgress(
            number: 0, lineCap: cap, acknowledging: reader.acknowledging, isFresh: false, hasOpenEnds: false)
        var heard: [UInt8] = []
        frames.send { view in
            var place = 0
            while place < view.count {
                let size = min(view.count - place, Int.random(in: 1...60, using: &random))
                let kept = reader.kept.array
                #expect(kept.count <= cap + StreamPiece.mostHead)
                let bytes = PaddedBytes(copying: kept + view[place..<place + size].array)
                var intake = StreamIntake(progress)
                let goesOn = reader.take(StreamPiece(bytes.view, keptCount: kept.count), &intake, to: &consumer)
                #expect(goesOn)
                place += size
                // Nothing is told before it is durable.
                progress.acknowledger?.note(consumer.mark())
                let early = progress.acknowledger?.answer(&consumer) ?? []
                #expect(early.isEmpty)
            }
            return place
        }
        log.makeDurable(.max)
        while let bytes = progress.acknowledger?.answer(&consumer), !bytes.isEmpty {
            heard += bytes
            progress.acknowledger?.sent(bytes.count)
        }
        #expect(log.all == expected, "seed \(seed)")
        var places: [Int32: Int64] = [:]
        for position in RecordFrame.takePlaces(&heard) {
            #expect(places[position.partition] ?? -1 < position.offset)
            places[position.partition] = position.offset
        }
        #expect(places == ends && heard.isEmpty, "seed \(seed)")
    }

    @Test func partitions() throws {
        for (text, numbers, shown) in [
            ("0", [0], "0"), ("3-5,0", [0, 3, 4, 5], "0, 3-5"), (" 7 , 9 - 10", [7, 9, 10], "7, 9-10"),
        ] as [(String, [Int32], String)] {
            let set = try PartitionSet(parsing: text)
            #expect(set.numbers == numbers && set.text == shown)
            #expect(try PartitionSet(parsing: set.text) == set)
        }
        for text in ["", "a", "1,", "3-1", "-1", "1--2", "1-2-3", "100000", "0-3,2", "4,4", "1 2", "٣"] {
            #expect(throws: SettingProblem.self, "\(text)") { try PartitionSet(parsing: text) }
        }
    }
}
