import KymographCore

/// JSON documents over any number of lines, one after the other or in one array: each is a payload.
///
/// Where one is broken, the bytes up to the next line that can begin one are rejected with it. That is a line that
/// begins as far from the margin as the first document did, because a part of a document, read alone, may be of another
/// device or patient than the whole. Where parts of documents are written so, too, nothing more is read.
final class DocumentProtocol: StreamProtocol {
    private let cap: Int
    private var borders = DocumentBorders()
    private var lines = DocumentLines()
    /// Bytes of the document, up to the cap, and what is rejected with it.
    private var document = ByteWriter(capacity: 1_024)
    private var state = State.reading
    /// Whether the document is longer than the cap.
    private var isTooLong = false
    private var isAtStart = true
    private var mark = LeadingMark()

    private enum State {
        /// Between documents, or within one.
        case reading
        /// Behind a document; what is directly behind it tells whether it is a whole one.
        case complete
        /// Behind the place where one is broken.
        case lost
    }

    /// Documents of at most `cap` bytes.
    init(cap: Int) { self.cap = cap }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        let bytes = piece.bytes
        // A document may have begun before the line was opened.
        if isAtStart, intake.hasOpenEnds { state = .lost }
        isAtStart = false
        for index in 0..<bytes.count where !mark.takes(bytes[index]) {
            take(bytes[index], &intake, &consumer)
            lines.pass(bytes[index])
        }
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        if state == .complete { handOn(&intake, &consumer) }
        let reason: Rejection =
            switch ending {
            case .ended: state == .lost ? .frameMalformed : .frameIncomplete
            case .cut(let reason): reason
            }
        // An array without an end may lack elements.
        guard document.count > 0 || borders.isInArray else { return }
        reject(reason, &intake, &consumer)
        // A lane that stops may end a stream twice.
        (borders, state) = (DocumentBorders(), .reading)
    }

    private func take(
        _ byte: UInt8, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        if state == .complete { settle(byte, &intake, &consumer) }
        if state == .lost {
            guard lines.mayBegin(byte) else {
                lines.noteLost(byte)
                return keep(byte)
            }
            startAgain(&intake, &consumer)
        }
        var step = borders.step(byte)
        if case .broken = step, lines.mayBegin(byte) {
            startAgain(&intake, &consumer)
            step = borders.step(byte)
        }
        switch step {
        case .between: break
        case .inside:
            if document.count == 0 { lines.noteBeginning() } else { lines.notePart(byte) }
            keep(byte)
        case .last:
            keep(byte)
            state = .complete
        case .broken:
            keep(byte)
            state = .lost
        }
    }

    /// Hands on the document before `byte`, unless that shows that the document is the end of one. In an array the
    /// next element shows it, since a comma is behind members, too.
    private func settle(
        _ byte: UInt8, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        var behind = borders
        if case .broken = behind.step(byte) {
            state = .lost
        } else if !borders.isInArray || !DocumentProtocol.isBetween(byte) {
            handOn(&intake, &consumer)
        }
    }

    /// Whether `byte` can be between elements.
    private static func isBetween(_ byte: UInt8) -> Bool {
        [0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: ",")].contains(byte)
    }

    private func handOn(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        state = .reading
        guard !isTooLong else { return reject(.frameTooLong, &intake, &consumer) }
        document.view.withPadding { intake.payload($0, to: &consumer) }
        document.removeAll()
    }

    private func startAgain(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        if document.count > 0 { reject(.frameMalformed, &intake, &consumer) }
        borders = DocumentBorders(isInArray: borders.isInArray)
        state = .reading
    }

    private func reject(
        _ reason: Rejection, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        document.view.withPadding { intake.reject(reason, $0, to: &consumer) }
        document.removeAll()
        isTooLong = false
    }

    private func keep(_ byte: UInt8) {
        guard document.count < cap else { return isTooLong = true }
        document.append(byte)
    }
}

/// Where lines begin that can begin a document.
private struct DocumentLines {
    /// Bytes of the line so far.
    private var column = 0
    /// Whether these are blanks.
    private var isBlank = true
    /// Column of the first document.
    private var margin: Int?
    /// Whether parts of documents have begun lines as documents do.
    private var isAmbiguous = false

    /// Whether `byte` can be the first one of a document whatever is before it.
    func mayBegin(_ byte: UInt8) -> Bool {
        isBlank && !isAmbiguous && column == margin ?? 0 && DocumentLines.isOpening(byte)
    }

    /// Notes that a document begins here.
    mutating func noteBeginning() {
        if margin == nil { margin = column }
    }

    /// Notes `byte` of a document whose beginning was before.
    mutating func notePart(_ byte: UInt8) {
        guard DocumentLines.isOpening(byte), isBlank, let margin, column <= margin else { return }
        isAmbiguous = true
    }

    /// Notes `byte` behind the place where a document is broken.
    mutating func noteLost(_ byte: UInt8) {
        // Before the first document has begun nothing tells how far from the margin its parts are.
        if margin != nil { notePart(byte) }
    }

    /// Goes behind `byte`.
    mutating func pass(_ byte: UInt8) {
        guard byte != 0x0A else {
            (column, isBlank) = (0, true)
            return
        }
        column += 1
        isBlank = isBlank && (byte == 0x20 || byte == 0x09)
    }

    private static func isOpening(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }
}
