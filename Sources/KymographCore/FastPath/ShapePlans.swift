/// Where the parts of a reading are among the values of an object of a known shape: of a document by
/// ``ShapeTree``, of an object that a packet gave by ``ObjectShapes``.
struct ShapePlan: BitwiseCopyable {
    /// The template that the document matches, and no other, by its index in the mapping set; and the type of its
    /// readings.
    var template: Int32
    var type: Int32
    var format: TimestampFormat
    /// Places of the values; ``ShapePlan/none`` where the document has no such member.
    var device = ShapePlan.none
    var patient = ShapePlan.none
    var timestamp = ShapePlan.none
    /// Whether the time is a text.
    var isTimeText = false
    /// Whether all that is read is a device, a time and inline number 0.
    var isPlain = false
    /// Numbers that the template reads, as a run of ``ShapePlans/values``.
    var firstValue: Int32 = 0
    var valueCount: Int32 = 0
    /// Comparisons that must hold for the template to match, as a run of ``ShapePlans/tests``.
    var firstTest: Int32 = 0
    var testCount: Int32 = 0

    static let none: Int16 = -1

    /// A number that the template reads.
    struct Value: BitwiseCopyable {
        var place: Int16
        var slot: UInt8
    }

    /// A comparison of a number with a constant.
    struct Test: BitwiseCopyable {
        var place: Int16
        var operation: PathPredicate.Operation
        var number: Decimal64
    }
}

/// The shapes of documents and objects that a mapper knows, and what is read of them.
///
/// A shape is learnt from an object that gave one reading by a ``FlatPlan``, where every template was chosen or passed
/// over for what all objects of the shape have in common: which members there are, and the texts that templates ask
/// for, which are part of the shape.
struct ShapePlans: ~Copyable {
    /// Of payloads that are JSON documents.
    var documents = ShapeTree()
    /// Of objects that packets give.
    var objects = ObjectShapes()
    /// The shapes of the objects that heart rates of each form give: most packets are of one form.
    private var heartRates = RawArray<Int16>(repeating: ShapePlans.unknown, count: HeartRatePacket.forms)
    /// By the numbers of the shapes; a source has either.
    private var plans = RawArray<ShapePlan>()
    private(set) var values = RawArray<ShapePlan.Value>()
    private(set) var tests = RawArray<ShapePlan.Test>()
    /// By the numbers of names: whether a template asks for the member's text.
    private let isFixed: RawArray<Bool>
    /// For each template: what decides whether it matches, beside names; nil where that is more than shapes know.
    private let deciders: [MatchDeciders?]

    /// For `templates`, chosen by `selector`.
    init(_ templates: [TemplateCode], _ selector: borrowing TemplateSelector, in program: PathProgram) {
        var names = selector.names
        var deciders: [MatchDeciders?] = []
        for (index, template) in templates.enumerated() {
            deciders.append(
                selector.needsSelection(index) ? nil : MatchDeciders(template.match.path, in: program))
            names += deciders[index]?.texts ?? []
        }
        var isFixed = Array(repeating: false, count: program.names.count)
        for name in names where name != NameTable.unknown { isFixed[Int(name)] = true }
        self.isFixed = RawArray(isFixed)
        self.deciders = deciders
    }

    /// Whether `chosen` and no other template matches all objects that have the shape of the one in `scanner`.
    func isSettled(
        by chosen: Int, _ selector: borrowing TemplateSelector, _ scanner: borrowing JSONScanner, _ bytes: ByteView
    ) -> Bool {
        let places = selector.candidates(scanner, bytes)
        for place in places ?? deciders.indices {
            let template = places == nil ? place : selector[place]
            if !isSettled(template, chosen, selector, scanner, bytes) { return false }
        }
        return true
    }

    private func isSettled(
        _ template: Int, _ chosen: Int, _ selector: borrowing TemplateSelector, _ scanner: borrowing JSONScanner,
        _ bytes: ByteView
    ) -> Bool {
        // Comparisons of numbers are made for each object, with those of the chosen template alone.
        if template == chosen { return deciders[template] != nil }
        return selector.rulesOut(template, scanner, bytes) || deciders[template]?.tests.isEmpty ?? false
    }

    /// Stands for a form that was not met yet.
    private static let unknown: Int16 = -1
    /// Stands for a form of which more is read than a ``HeartRatePacket`` says.
    private static let unusable: Int16 = -2

    /// The shape of the objects that heart rates of `form` give; below zero when it is not known.
    @inline(__always)
    func shape(ofHeartRate form: Int) -> Int { Int(heartRates[form]) }

    /// Whether ``note(_:form:places:)`` has been called for `form`.
    func hasMet(heartRate form: Int) -> Bool { heartRates[form] != ShapePlans.unknown }

    /// What is read of documents, or objects, of shape `number`.
    @inline(__always)
    func plan(of number: Int) -> ShapePlan { plans[number] }

    // MARK: Learning

    /// Learns the shape of the flat document in `scanner`, of which `template` gave the one reading as `plan` and its
    /// `numbers` say.
    mutating func learnDocument(
        _ plan: FlatPlan, _ numbers: ElementList<FlatPlan.Value>, _ template: Int, _ scanner: borrowing JSONScanner,
        _ bytes: ByteView
    ) {
        // They were forgotten: devices may have changed.
        if documents.count == 0 { removeAll() }
        let kept = (values.count, tests.count)
        guard let learnt = place(plan, numbers, template, scanner, isObject: false),
            documents.learn(scanner.tape, bytes, isFixed: isFixed)
        else { return truncate(to: kept) }
        plans.append(learnt)
    }

    /// The same for the object with these members, which `scanner` has adopted.
    mutating func learnObject(
        _ plan: FlatPlan, _ numbers: ElementList<FlatPlan.Value>, _ template: Int, _ scanner: borrowing JSONScanner,
        _ members: ElementList<Token>, _ bytes: ByteView
    ) -> Int? {
        let kept = (values.count, tests.count)
        guard let learnt = place(plan, numbers, template, scanner, isObject: true),
            objects.learn(members, bytes, isFixed: isFixed)
        else {
            truncate(to: kept)
            return nil
        }
        plans.append(learnt)
        return plans.count - 1
    }

    /// Notes that heart rates of this form give objects of shape `number`, if nothing is read of those but what a
    /// ``HeartRatePacket`` says. `places` are those of their members.
    mutating func note(_ number: Int, form: Int, places: (device: Int?, time: Int?, heartRate: Int?)) {
        heartRates[form] = isRead(plans[number], number, places) ? Int16(number) : ShapePlans.unusable
    }

    private func isRead(_ plan: ShapePlan, _ number: Int, _ places: (device: Int?, time: Int?, heartRate: Int?)) -> Bool
    {
        guard let rate = places.heartRate, places.time == Int(plan.timestamp), plan.patient == ShapePlan.none,
            plan.device == ShapePlan.none || places.device == Int(plan.device)
        else { return false }
        if let device = places.device, objects.isFixed(device, in: number) { return false }
        for index in Int(plan.firstValue)..<Int(plan.firstValue + plan.valueCount)
        where Int(values[index].place) != rate {
            return false
        }
        for index in Int(plan.firstTest)..<Int(plan.firstTest + plan.testCount) where Int(tests[index].place) != rate {
            return false
        }
        return true
    }

    private mutating func removeAll() {
        plans.removeAll()
        truncate(to: (0, 0))
    }

    private mutating func truncate(to counts: (values: Int, tests: Int)) {
        values.truncate(to: counts.values)
        tests.truncate(to: counts.tests)
    }

    /// The plan for the document, or object, in `scanner`; nil where a part of the reading is part of the shape.
    private mutating func place(
        _ plan: FlatPlan, _ numbers: ElementList<FlatPlan.Value>, _ template: Int, _ scanner: borrowing JSONScanner,
        isObject: Bool
    ) -> ShapePlan? {
        var learnt = ShapePlan(
            template: plan.template, type: plan.type, format: plan.format, firstValue: Int32(values.count),
            firstTest: Int32(tests.count))
        guard let device = place(of: plan.device, scanner, isObject),
            let patient = place(of: plan.patient, scanner, isObject),
            let timestamp = place(of: plan.timestamp, scanner, isObject), timestamp != ShapePlan.none,
            let time = scanner.slot(of: plan.timestamp)
        else { return nil }
        (learnt.device, learnt.patient, learnt.timestamp) = (device, patient, timestamp)
        learnt.isTimeText = scanner.tape[time].kind == TokenKind.string
        for index in 0..<numbers.count {
            guard let place = place(of: numbers[index].name, scanner, isObject) else { return nil }
            if place != ShapePlan.none { values.append(ShapePlan.Value(place: place, slot: numbers[index].slot)) }
        }
        learnt.valueCount = Int32(values.count) - learnt.firstValue
        for test in deciders[template]?.tests ?? [] {
            guard let token = scanner.slot(of: test.name), scanner.tape[token].kind == TokenKind.number,
                let place = place(of: test.name, scanner, isObject)
            else { return nil }
            tests.append(ShapePlan.Test(place: place, operation: test.operation, number: test.number))
        }
        learnt.testCount = Int32(tests.count) - learnt.firstTest
        learnt.isPlain =
            device != ShapePlan.none && patient == ShapePlan.none && learnt.valueCount == 1
            && values[Int(learnt.firstValue)].slot == 0
        return learnt
    }

    /// The place of member `name` among the values; ``ShapePlan/none`` when there is no such member, nil when it is
    /// part of the shape.
    private func place(of name: UInt16, _ scanner: borrowing JSONScanner, _ isObject: Bool) -> Int16? {
        guard name != NameTable.unknown, let token = scanner.slot(of: name) else { return ShapePlan.none }
        if isObject { return Int16(token - JSONScanner.payload - 1) }
        return ShapeTree.place(of: token, scanner.tape, isFixed: isFixed).map { Int16($0) }
    }
}
