import ArgumentParser

@main
struct Kymo: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "kymo")
}
