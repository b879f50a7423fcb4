// SPDX-License-Identifier: MIT
// What Qt Quick draws with its own shaders: gradients, rounded corners, rotation, alpha, text. One part changes again and again.
import QtQuick
import QtQuick.Window

Window {
    width: 640; height: 480; visible: true; visibility: Window.FullScreen
    Rectangle {
        anchors.fill: parent
        gradient: Gradient {
            GradientStop { position: 0; color: "#204080" }
            GradientStop { position: 1; color: "#e0c060" }
        }
    }
    Repeater {
        model: 6
        Rectangle {
            x: 60 + 85 * index; y: 120; width: 90; height: 90; radius: 4 * index
            color: Qt.hsla(index / 6, 0.8, 0.5, 0.7); rotation: 15 * index; border { width: 3; color: "white" }
        }
    }
    Text { x: 40; y: 300; text: "Tessera"; font.pixelSize: 64; color: "white" }
    Rectangle {
        property bool on: false
        x: 560; y: 420; width: 24; height: 24; color: on ? "#ff0000" : "#fe0000"
        Timer { interval: 50; running: true; repeat: true; onTriggered: parent.on = !parent.on }
    }
}
