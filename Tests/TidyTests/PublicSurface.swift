import Foundation

/// What is public: the types, their members, the requirements of protocols and the number of cases of enumerations.
///
/// Each name is a promise to programs that embed the library. What others within the package need is `package`.
enum PublicSurface {
    /// All of it, by the file that declares it; a file may go on in lines that begin with blanks.
    static let promised = """
        ByteView: ByteView .padding .count .init .subscript .subscript .equals .array
        ByteWriter: ByteWriter .count .init .append .append .append .removeAll .view
        DeliveryReport: DeliveryReport Outcome (4 cases) .sink .resource .outcome .detail .refused
        Descriptor: Descriptor .init .raw .close
        EngineConfiguration: EngineConfiguration Storage (3 cases) .storage .mappings .window .sources
            .sourceKinds .framings .sinks .readingHook .entryHook .onBatch .callbackQueue .onRejection .onDelivery
            .onNote .init .init
        EngineError: EngineError Kind (4 cases) Problem .isError .file .line .column .message .advice
            .description .kind .message .problems .summary .description
        EngineSummary: EngineSummary .received .accepted .duplicate .conflict .retractions .rejections .observations
            .resources .kernelDropped .undelivered .lines .rejected .inFlight
        EntryHook: EntryHook .name .patches .isVetoed .isDeletionVetoed .patches .patches .isDeletionVetoed .patches
        EntrySink: EntrySink .Handler .name .types .devices .sources .executor .init
        FramingDescriptor: FramingDescriptor .init
        IdentifierText: IdentifierText .utf8 .init .init .text .< .description .init .init .encode
        Instant: Instant .nanoseconds .init .<
        KymographEngine: KymographEngine .init .run .stop .summary .sources .submit .offer
        OpenedSource: OpenedSource Form (8 cases) .Reopen Broker Records Associations Sealed Listener Overflow (2 cases) .init .init
        PayloadReceiver: PayloadReceiver .line .knownLine .datagram .datagram .rejected .mark .takeRejections .mappings
            .admit .taken .beginCount .endCount .beginItems .endItem .beginParts .endParts .declined .batchEnd ReadingCount DurableMark
        PeerGrant: PeerAdmission
        ReadingHook: ReadingHook .name .decide HookedReading Value (2 cases) .type .device
            .patient .encounter .time .source .values .tags ReadingDecision (4 cases)
        RejectedPayload: RejectedPayload .reason .detail .source .receivedAt .bytes .isMapped
        Rejection: Rejection .name (88 cases)
        ResourceEntry: ResourceEntry Identifier .system .value .resourceType .id .identifier .device
            .patient .json
        SettingProblem: SettingProblem .init
        SourceAddress: SourceAddress .descriptor .name .claim .isShareable .problem .open .claim
            .isShareable .problem
        SourceConfiguration: SourceConfiguration .receiveBufferBytes .socketMode .isInsecure
        SourceDescriptor: SourceDescriptor .init SourceCapabilities .rawValue .init .framing .clients
            .network .ends .receiveBuffer .coalescing .socketFile .peers
            .openEnds
        SourceError: SourceError .message .description .init .system
        StreamFraming: CustomFraming .init .== .hash
        StreamIntake: StreamIntake .payload .lastPayload .reject .reply
        StreamProtocol: StreamProtocol .acknowledging .kept .take .fileEnded .end .hasExpired .overdueReply
            .acknowledging .kept .fileEnded .hasExpired .overdueReply Acknowledging (3 cases) StreamPiece .mostHead .bytes .keptCount StreamEnding (2 cases)
        Submission: SubmissionReceipt .readings .rejected .isDurable SubmissionError .description (5 cases)
            Submission .receipt
        """

    /// What `files` declare.
    static func declared(_ files: [SourceFile]) -> String {
        let declared = files.compactMap { (file) -> String? in
            guard file.lines.contains(where: { $0.contains("public ") && !$0.hasPrefix("public import") }) else {
                return nil
            }
            let names = names(file)
            guard !names.isEmpty else { return nil }
            let name = file.path.split(separator: "/").last?.replacing(".swift", with: "") ?? ""
            return "\(name): \(names.joined(separator: " "))"
        }
        return declared.sorted().joined(separator: "\n")
    }

    /// Names in the order of the file; members behind a full stop.
    private static func names(_ file: SourceFile) -> [String] {
        var (names, depth, cases) = ([String](), 0, 0)
        /// Public enumerations and protocols that are open, and how deep their members are.
        var open: [(isEnum: Bool, depth: Int)] = []
        for line in CodeText.of(file.text).split(separator: "\n", omittingEmptySubsequences: false) {
            if let last = open.last, depth == last.depth {
                if last.isEnum, let match = line.firstMatch(of: /^\s*case (.*)/) {
                    cases += parts(match.1)
                } else if !last.isEnum, let name = member(line) {
                    names.append("." + name)
                }
            }
            if let match = line.firstMatch(
                of:
                    /\bpublic (?:[\w()]+ )*?(struct|class|enum|protocol|typealias|init|subscript|func|var|let)\b\s*([\w<=>!&|]*)/
            ) {
                let (kind, name) = (match.1, match.2)
                let isType = ["struct", "class", "enum", "protocol"].contains(kind)
                names.append(isType ? String(name) : "." + (["init", "subscript"].contains(kind) ? kind : name))
                if kind == "enum" || kind == "protocol" { open.append((kind == "enum", depth + 1)) }
            }
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            while let last = open.last, depth < last.depth {
                if last.isEnum {
                    names.append("(\(cases) cases)")
                    cases = 0
                }
                open.removeLast()
            }
        }
        return names
    }

    /// How many cases a line declares: commas outside of brackets separate them.
    private static func parts(_ text: Substring) -> Int {
        var (depth, count) = (0, 1)
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth == 0 { count += 1 }
        }
        return count
    }

    /// The name of the requirement that `line` begins.
    private static func member(_ line: Substring) -> String? {
        line.firstMatch(of: /^\s*(?:static |mutating )*(?:func|var|init)\b\s*(\w*)/).map { String($0.1) }
    }
}
