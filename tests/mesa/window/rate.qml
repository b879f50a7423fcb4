// SPDX-License-Identifier: MIT
// A scene that changes in each frame, and prints how many frames there were in a second.
import QtQuick

Window {
    id: window
    property int frames: 0
    visible: true
    width: 640
    height: 480
    color: "#203040"
    onFrameSwapped: frames++

    Repeater {
        model: 64
        Rectangle {
            required property int index
            x: 80 * (index % 8) + 10
            y: 60 * Math.floor(index / 8) + 8
            width: 60
            height: 44
            radius: 8
            color: Qt.hsva(index / 64, 0.7, 0.9, 1)
            RotationAnimation on rotation { from: 0; to: 360; duration: 2000 + 40 * index; loops: Animation.Infinite }
        }
    }
    Timer {
        interval: 1000
        repeat: true
        running: true
        onTriggered: {
            console.log("rate " + window.frames)
            window.frames = 0
        }
    }
}
