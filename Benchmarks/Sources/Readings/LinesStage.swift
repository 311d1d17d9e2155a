import KymographCore

/// Puts lines of NDJSON together of blocks of entries: the Observations of ``FHIRStage``, a hundred to a block.
package struct LinesStage: ~Copyable, Stage {
    private var assembler = BundleAssembler()
    private let blocks: [[UInt8]]
    private var next = 0
    private var bytes = 0

    /// Lines of a block.
    private static let linesPerBlock = BundleLimits().entries

    /// Takes Observations of `devices` devices in turn.
    package init(devices: Int = 32) {
        var stage = FHIRStage(devices: devices, format: .ndjson)
        blocks = stage.finishedBlocks(of: devices * FHIRStage.windows)
    }

    /// Writes `count` lines: as many whole blocks as they fill.
    package mutating func run(_ count: Int) {
        precondition(count % LinesStage.linesPerBlock == 0, "blocks have \(LinesStage.linesPerBlock) lines")
        for _ in 0..<count / LinesStage.linesPerBlock {
            blocks[next].withByteView { block in
                guard let lines = assembler.text(of: block) else { fatalError("the block cannot be read") }
                bytes += lines.count
            }
            next = (next + 1) % blocks.count
        }
    }
}
